# what:  nginx: requests while its workers are replaced
# needs: nginx ab curl
# tier:  long
# get:   apt install nginx-light apache2-utils curl
# proof: nginx ab
# limit: 120

seq 1 20000 >page.html
cat >conf <<END
daemon off; worker_processes 2; pid $PWD/pid; error_log $PWD/errors;
events { worker_connections 256; }
http { access_log off; gzip on; gzip_min_length 1; gzip_types *; client_body_temp_path $PWD/b;
  proxy_temp_path $PWD/p; fastcgi_temp_path $PWD/f; uwsgi_temp_path $PWD/u; scgi_temp_path $PWD/s;
  server { listen localhost:18089; root $PWD; } }
END
[ "$(id -u)" = 0 ] && sed -i '1i user root;' conf
nginx -p "$PWD" -c "$PWD/conf" -e errors & server=$!
trap 'kill -9 $server 2>/dev/null || true' EXIT
until curl -sf http://localhost:18089/page.html >/dev/null; do kill -0 $server; done
for i in 1 2 3 4 5; do
  ab -q -s 20 -n 1000 -c 20 -H 'Accept-Encoding: gzip' http://localhost:18089/page.html | grep -E '^(Complete|Failed)'
  kill -HUP $server
done
until curl -sf http://localhost:18089/page.html | md5sum; do :; done
kill -QUIT $server
wait $server
