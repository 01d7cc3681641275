-- sysbench load.lua --port=PORT: each request is for the page, compressed.
package.path = package.path .. ";" .. debug.getinfo(1, "S").source:match("^@(.*/)") ..
  "../sysbench/?.lua"
local requests = require("requests")

sysbench.cmdline.options = {port = {"port of the server", 80}}

local HEAD = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: gzip\r\n"
local KEPT, CLOSED = "Connection: keep-alive\r\n", "Connection: close\r\n" -- also in the answer
local MOST, REQUESTS = 65536, 900 -- of one connection: nginx closes it after 1,000
local connection, length, asked

-- The answer is the same each time, except for the date, whose length is always the same.
function thread_init()
  length = requests.length_of_answer(sysbench.opt.port, HEAD .. CLOSED .. "\r\n", MOST) +
    #KEPT - #CLOSED
  connection, asked = requests.connect(sysbench.opt.port, MOST), 0
end

function event()
  if asked == REQUESTS then
    connection.close()
    connection, asked = requests.connect(sysbench.opt.port, MOST), 0
  end
  asked = asked + 1
  connection.add(HEAD .. KEPT .. "\r\n")
  connection.ask(length, "HTTP/1.1 200 OK\r\n", "\r\n0\r\n\r\n")
end

function thread_done() connection.close() end
