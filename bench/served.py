# SPDX-License-Identifier: GPL-2.0-or-later
"""The services of bench/service, and the loads that they are put under."""

import pathlib
import re
import sys

from peers import Missing, find

TAIL_PERCENT = 2         # of the requests of a service with a tail; p99 is in their midst
BACKGROUND_PERCENT = 10  # of the time, for which a thread works beside the requests

PYTHON = '''
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
port, steps, tail_steps = map(int, sys.argv[1:4])
state = 1
class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    wbufsize = 65536
    disable_nagle_algorithm = True
    def log_message(self, *arguments):
        pass
    def do_GET(self):
        global state
        state = (state * 1103515245 + 12345) & 0x7fffffff
        pong = 0
        for step in range(steps + (tail_steps if (state >> 8 & 1023) < 20 else 0)):
            pong += step
        body = b'{"pong": %012d}' % pong
        self.send_response(200)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(body)))
        self.send_header('Connection', 'keep-alive')
        self.end_headers()
        self.wfile.write(body)
ThreadingHTTPServer.request_queue_size = 128
ThreadingHTTPServer(('127.0.0.1', port), Handler).serve_forever()
'''

NODE = '''
const [port, steps, tailSteps] = process.argv.slice(2).map(Number);
let state = 1, sink = 0;
require('http').createServer((request, response) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    const n = steps + ((state >> 8 & 1023) < 20 ? tailSteps : 0);
    for (let i = 0; i < n; i++)
        sink = (sink * 31 + i) % 1000003;
    const body = '{"pong": ' + String(sink).padStart(8, '0') + '}';
    response.writeHead(200, {'Content-Type': 'application/json', 'Content-Length': body.length});
    response.end(body);
}).listen(port, '127.0.0.1');
'''

NGINX = '''
daemon off;
master_process off;
pid FOLDER/pid;
error_log stderr warn;
events { worker_connections 256; }
http {
    access_log off;
    keepalive_requests 100000000;
    client_body_temp_path FOLDER/body;
    proxy_temp_path FOLDER/proxy;
    fastcgi_temp_path FOLDER/fastcgi;
    uwsgi_temp_path FOLDER/uwsgi;
    scgi_temp_path FOLDER/scgi;
    server {
        listen 127.0.0.1:PORT;
        location / { default_type application/json; return 200 '{"pong": 1}'; }
    }
}
'''


class Server:
    """A service whose work for a request is known in steps."""
    # Which steps it has, and how many more show what a step costs.
    base, more = 0, 0
    requests = 0   # of a slice
    speaks_http = True
    background = ()  # options for a thread that works beside the requests

    def __init__(self, build, scratch):
        self.build = build.resolve()
        self.scratch = pathlib.Path(scratch)

    def command(self, steps, tail_steps=0):
        """Its words; {port} is the port."""
        raise NotImplementedError

    def load(self, requests=None):
        """The words of a load, as people use it."""
        return ['ab', '-q', '-k', '-n', str(requests or self.requests), '-c', '4', 'http://127.0.0.1:{port}/']

    def read_rate(self, output):
        """Requests/s in what that load has printed."""
        found = re.search(r'^Requests per second: +([0-9.]+)', output, re.MULTILINE)
        if not found or 'Non-2xx' in output or not re.search(r'^Failed requests: +0$', output, re.MULTILINE):
            raise Missing('the load has failed requests, or tells no rate')
        return float(found.group(1))

    def count_options(self):
        """What runserved has to be told of that load."""
        return []

    def check(self):
        """Raises Missing where it cannot be run here."""
        find('ab')


class C(Server):
    base, more, requests = 5000, 5000, 4000
    background = ('--background', str(BACKGROUND_PERCENT))

    def command(self, steps, tail_steps=0):
        return [str(self.build / 'bench/service-program'), '--work', str(steps),
                '--tail', f'{TAIL_PERCENT},{tail_steps}', '{port}']


class Python(Server):
    base, more, requests = 1000, 1000, 1000

    def command(self, steps, tail_steps=0):
        path = self.scratch / 'server.py'
        path.write_text(PYTHON, encoding='utf-8')
        return [sys.executable, str(path), '{port}', str(steps), str(tail_steps)]


class Node(Server):
    base, more, requests = 5000, 5000, 2000

    def command(self, steps, tail_steps=0):
        path = self.scratch / 'server.js'
        path.write_text(NODE, encoding='utf-8')
        return ['node', str(path), '{port}', str(steps), str(tail_steps)]

    def check(self):
        super().check()
        find('node')


class Preloaded(Server):
    """A program of others, which works more for each piece that it reads."""

    def prefix(self, steps, tail_steps):
        return ['env', f'LD_PRELOAD={self.build / "bench/libservice-preload.so"}', f'SERVICE_WORK={steps}',
                f'SERVICE_TAIL={TAIL_PERCENT},{tail_steps}']


class Redis(Preloaded):
    base, more, requests = 0, 1000, 5000
    speaks_http = False

    def command(self, steps, tail_steps=0):
        return [*self.prefix(steps, tail_steps), 'redis-server', '--port', '{port}', '--save', '', '--appendonly', 'no']

    def load(self, requests=None):
        return ['redis-benchmark', '-p', '{port}', '-n', str(requests or self.requests), '-c', '4', '-t', 'get', '--csv']

    def read_rate(self, output):
        found = re.search(r'^"GET","([0-9.]+)"', output, re.MULTILINE)
        if not found:
            raise Missing('the load tells no rate')
        return float(found.group(1))

    def count_options(self):
        return ['--requests', str(self.requests)]

    def check(self):
        find('redis-server')
        find('redis-benchmark')


class Nginx(Preloaded):
    base, more, requests = 0, 2000, 3000

    def command(self, steps, tail_steps=0):
        """The port stands in a file, so a shell writes one for each start."""
        template = self.scratch / 'nginx.conf'
        template.write_text(NGINX, encoding='utf-8')
        script = self.scratch / 'nginx.sh'
        script.write_text('set -e\nfolder=$(mktemp -d "$1/nginx.XXXXXX")\n'
                          'sed "s|FOLDER|$folder|; s|PORT|$2|" "$1/nginx.conf" >"$folder/conf"\n'
                          'shift 2\nexec "$@" -c "$folder/conf"\n', encoding='utf-8')
        return ['sh', str(script), str(self.scratch), '{port}', *self.prefix(steps, tail_steps),
                find('nginx'), '-e', 'stderr']

    def check(self):
        super().check()
        find('nginx')


SERVERS = {'c': C, 'python': Python, 'redis': Redis, 'nginx': Nginx, 'node': Node}
