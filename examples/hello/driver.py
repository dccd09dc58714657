"""A build driver in Python, on the C library: compiles and links the program in src/, but only what is stale, and says why.

    python3 driver.py DIRECTORY            # UPCHECK_LIBRARY names libupcheck.so where the system does not find it
"""
import ctypes, ctypes.util, os, subprocess, sys
from ctypes import POINTER, Structure, byref, c_char_p, c_int32, c_size_t, c_uint32, c_uint64, c_void_p, create_string_buffer

upcheck = ctypes.CDLL(os.environ.get("UPCHECK_LIBRARY") or ctypes.util.find_library("upcheck"))

class Str(Structure):  # upcheck_str
    _fields_ = [("ptr", c_char_p), ("len", c_size_t)]

class Bytes(Structure):  # upcheck_str on the way out: bytes without a NUL behind them
    _fields_ = [("ptr", c_void_p), ("len", c_size_t)]

class Description(Structure):  # upcheck_description
    _fields_ = [("struct_size", c_size_t)] + [
        field for role in ("outputs", "inputs", "implicit", "order_only", "validations")
        for field in ((role, POINTER(c_uint32)), ("n_" + role, c_size_t))
    ] + [("command", Str), ("values", c_void_p), ("n_values", c_size_t), ("globs", c_void_p), ("n_globs", c_size_t),
         ("depfile", Str), ("directory", Str), ("name", Str), ("flags", c_uint32), ("policy", c_int32)]

class Stale(Structure):  # upcheck_stale
    _fields_ = [("target", c_uint32), ("verdict", c_int32), ("first_finding", c_uint64), ("n_findings", c_uint32),
                ("waits", c_uint32)]

upcheck.upcheck_error_message.restype = c_char_p
upcheck.upcheck_report_stale.restype = c_void_p
upcheck.upcheck_graph_name.restype = Bytes
for name in ("upcheck_report_explain", "upcheck_graph_command"):
    getattr(upcheck, name).restype = c_size_t

def call(function, *arguments):
    """Calls a function that can fail: its last argument receives the error."""
    error = c_void_p()
    if getattr(upcheck, function)(*arguments, byref(error)) != 0:
        sys.exit("driver: " + upcheck.upcheck_error_message(error).decode())

def text(value):
    return Str(value.encode(), len(value.encode()))

def file(path):
    number = c_uint32()
    call("upcheck_graph_add_path", graph, path.encode(), c_size_t(len(path.encode())), byref(number))
    return number.value

def add(output, inputs, command, depfile=""):
    outputs, inputs = (c_uint32 * 1)(file(output)), (c_uint32 * len(inputs))(*map(file, inputs))
    target = Description(struct_size=ctypes.sizeof(Description), outputs=outputs, n_outputs=1, inputs=inputs,
                         n_inputs=len(inputs), command=text(command), depfile=text(depfile))
    call("upcheck_graph_add_target", graph, byref(target), None)

def build(target):
    command, begun = create_string_buffer(512), c_void_p()
    call("upcheck_begin", graph, records, byref(c_uint32(target)), c_size_t(1), byref(begun))
    upcheck.upcheck_graph_command(graph, c_uint32(target), command, c_size_t(512))
    print(" ", command.value.decode(), flush=True)
    if subprocess.run(command.value, shell=True).returncode != 0:
        sys.exit(1)  # it stays on record as interrupted
    call("upcheck_commit", graph, records, begun, c_uint32(0))
    upcheck.upcheck_build_free(begun)

def build_what_need_not_wait():
    """Builds what is stale by itself: what is made from that may come out as it is. False once all is fresh."""
    report, n, stride, why = c_void_p(), c_size_t(), c_size_t(), create_string_buffer(512)
    call("upcheck_check", graph, records, None, byref(report))
    stale = upcheck.upcheck_report_stale(report, byref(n), byref(stride))
    for it in (Stale.from_address(stale + i * stride.value) for i in range(n.value)):
        if not it.waits:
            upcheck.upcheck_report_explain(report, graph, c_size_t(it.first_finding), why, c_size_t(512))
            name = upcheck.upcheck_graph_name(graph, c_uint32(it.target))
            print(f"{ctypes.string_at(name.ptr, name.len).decode()}: {why.value.decode()}")
            build(it.target)
    upcheck.upcheck_report_free(report)
    return n.value > 0

os.chdir(sys.argv[1])
graph, records = c_void_p(), c_void_p()
call("upcheck_graph_new", b"", c_size_t(0), byref(graph))
call("upcheck_records_open", b".upcheck", c_size_t(8), byref(records))
names = ["main", "greet", "count"]
for name in names:
    command = f"mkdir -p out && cc -MMD -c src/{name}.c -o out/{name}.o"
    add(f"out/{name}.o", [f"src/{name}.c"], command, f"out/{name}.d")
add("out/hello", [f"out/{name}.o" for name in names], "cc out/main.o out/greet.o out/count.o -o out/hello")
while build_what_need_not_wait():
    pass
upcheck.upcheck_records_free(records)
upcheck.upcheck_graph_free(graph)
