#!/usr/bin/env bash
# keys.sh FOLDER NAME...: an authority of the house's own, and for each host a key with its certificate.
#
#   FOLDER/ca.pem            the authority's certificate: everybody has it
#   FOLDER/authority.key     the authority's key: only whoever signs has it; keep it elsewhere
#   FOLDER/NAME/broker.pem   key and certificate of one broker, as Kafka reads them
#   FOLDER/NAME/ca.pem       the authority's certificate beside it
#
# What is there already stays. A house that has an authority has its own way of signing, and needs none of this.
set -euo pipefail
umask 077

folder=$1
shift
mkdir --parents "$folder"
days=825

quietly() { local said; said=$("$@" 2>&1) || { printf '%s\n' "$said" >&2; exit 1; }; }

if [ ! -e "$folder/authority.key" ]; then
  quietly openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj '/CN=Roundlog authority' \
    -addext 'basicConstraints=critical,CA:TRUE' -addext 'keyUsage=critical,keyCertSign,cRLSign' \
    -keyout "$folder/authority.key" -out "$folder/ca.pem"
fi

for name in "$@"; do
  [ ! -e "$folder/$name/broker.pem" ] || continue
  mkdir --parents "$folder/$name"
  kind=DNS
  [[ ! $name =~ ^[0-9.]+$ ]] || kind=IP
  quietly openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$name" \
    -keyout "$folder/$name/key" -out "$folder/$name/request"
  quietly openssl x509 -req -in "$folder/$name/request" -CA "$folder/ca.pem" -CAkey "$folder/authority.key" \
    -CAcreateserial -days "$days" -out "$folder/$name/certificate" \
    -extfile <(printf '%s\n' "subjectAltName=$kind:$name" 'extendedKeyUsage=serverAuth,clientAuth' \
      'basicConstraints=CA:FALSE' 'keyUsage=critical,digitalSignature' 'authorityKeyIdentifier=keyid')
  cat "$folder/$name/key" "$folder/$name/certificate" > "$folder/$name/broker.pem"
  cp "$folder/ca.pem" "$folder/$name/ca.pem"
  rm "$folder/$name/request"
  # In Kafka's image the broker is the user 1000. Who is not root makes keys for themselves.
  [ "$(id --user)" != 0 ] || chown --recursive 1000 "$folder/$name"
done
chmod a+rx "$folder"
chmod a+r "$folder/ca.pem"
