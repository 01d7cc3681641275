-- Requests over TCP for sysbench, which has no client for caches and pages: a request is written as
-- a whole, and its answer, of a length that is known, is read as a whole.
local ffi = require("ffi")

ffi.cdef [[
typedef struct { uint16_t family; uint16_t port; uint32_t address; char zero[8]; } heapwise_address;
int socket(int domain, int type, int protocol);
int connect(int socket, const heapwise_address* address, unsigned length);
int setsockopt(int socket, int level, int name, const void* value, unsigned length);
ssize_t send(int socket, const char* data, size_t length, int flags);
ssize_t recv(int socket, char* data, size_t length, int flags);
int close(int descriptor);
]]

local AF_INET, SOCK_STREAM, IPPROTO_TCP, TCP_NODELAY = 2, 1, 6, 1
local MSG_WAITALL, MSG_NOSIGNAL = 0x100, 0x4000
local LOOPBACK = 0x0100007f -- 127.0.0.1 in network order
local C = ffi.C

local requests = {}

local function open(port)
  local descriptor = C.socket(AF_INET, SOCK_STREAM, 0)
  local swapped = bit.bor(bit.lshift(bit.band(port, 0xff), 8), bit.rshift(port, 8))
  local address = ffi.new("heapwise_address", {AF_INET, swapped, LOOPBACK})
  if descriptor < 0 or C.connect(descriptor, address, ffi.sizeof(address)) ~= 0 then
    error("nobody answers at port " .. port)
  end
  return descriptor
end

-- The bytes of the answer to a request after which the server closes the connection.
function requests.length_of_answer(port, text, most)
  local descriptor, input, length = open(port), ffi.new("char[?]", most), 0
  if C.send(descriptor, text, #text, MSG_NOSIGNAL) ~= #text then error("not sent") end
  repeat
    local received = tonumber(C.recv(descriptor, input, most, 0))
    if received < 0 then error("no answer") end
    length = length + received
  until received == 0
  C.close(descriptor)
  return length
end

-- The connection of one thread, with room for requests and answers of up to `most` bytes.
function requests.connect(port, most)
  local descriptor = open(port)
  local one = ffi.new("int[1]", 1)
  C.setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, one, ffi.sizeof("int"))
  local out, input = ffi.new("char[?]", most), ffi.new("char[?]", most)
  local values, length = ffi.new("char[?]", most), 0
  ffi.fill(values, most, string.byte("x"))
  local connection = {}

  function connection.add(text)
    ffi.copy(out + length, text, #text)
    length = length + #text
  end

  -- A value of `size` bytes.
  function connection.add_value(size)
    ffi.copy(out + length, values, size)
    length = length + size
  end

  -- Sends what was added, and reads an answer of `expected` bytes that begins and ends as given.
  function connection.ask(expected, first, last)
    if C.send(descriptor, out, length, MSG_NOSIGNAL) ~= length then error("not sent") end
    length = 0
    if C.recv(descriptor, input, expected, MSG_WAITALL) ~= expected then error("no answer") end
    if ffi.string(input, #first) ~= first or ffi.string(input + expected - #last, #last) ~= last then
      error("another answer: " .. ffi.string(input, math.min(expected, 80)))
    end
  end

  function connection.close() C.close(descriptor) end

  return connection
end

return requests
