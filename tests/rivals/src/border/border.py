"""The Python side of border.rs: loads and checks a graph through ctypes.

    border.py MODE N_FILES PER_TARGET LIBRARY     MODE: intern, distinct, borrow, one-by-one

Says what border.c says. Loading begins with a list of Python strings.
"""
import ctypes, sys, time
from array import array
from ctypes import POINTER, Structure, byref, c_char_p, c_size_t, c_uint32, c_void_p
from itertools import accumulate

mode, n_files, per_target = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
upcheck = ctypes.CDLL(sys.argv[4])
n_targets = -(-n_files // per_target)
paths = [f"src/module-{i // 100:05}/some_source_file_{i:07}.c" for i in range(n_files)]
paths += [f"out/target-{i:07}" for i in range(n_targets)]
n = len(paths)


class Pair(Structure):  # upcheck_lists, upcheck_texts
    _fields_ = [("values", c_void_p), ("ends", c_void_p)]


class Targets(Structure):  # upcheck_targets
    _fields_ = [("struct_size", c_size_t), ("n_targets", c_size_t)]
    _fields_ += [(name, Pair) for name in ("outputs", "inputs", "implicit", "order_only", "validations")]
    _fields_ += [(name, Pair) for name in ("commands", "depfiles", "directories", "names")]
    _fields_ += [("flags", c_void_p), ("policies", c_void_p)]


def need(status):
    if status != 0:
        sys.exit(f"border: {status}")


upcheck.upcheck_report_findings.restype = c_void_p
start = time.perf_counter()
graph = c_void_p()
need(upcheck.upcheck_graph_new(None, c_size_t(0), byref(graph), None))
files = (c_uint32 * n)()
if mode == "one-by-one":
    add, number = upcheck.upcheck_graph_add_path, c_uint32()
    for i, path in enumerate(paths):
        path = path.encode()
        need(add(graph, path, c_size_t(len(path)), byref(number), None))
        files[i] = number.value
else:
    flags = {"intern": 0, "distinct": 1, "borrow": 3}[mode]
    encoded = [path.encode() for path in paths]
    arena = b"".join(encoded)
    ends = array("Q", accumulate(map(len, encoded)))
    need(upcheck.upcheck_graph_add_paths(graph, arena, c_void_p(ends.buffer_info()[0]), c_size_t(n), c_uint32(flags),
                                         None, files, None))
address = ctypes.addressof(files)
input_ends = array("Q", (min((i + 1) * per_target, n_files) for i in range(n_targets)))
output_ends = array("Q", range(1, n_targets + 1))
targets = Targets(struct_size=ctypes.sizeof(Targets), n_targets=n_targets,
                  inputs=Pair(address, input_ends.buffer_info()[0]),
                  outputs=Pair(address + 4 * n_files, output_ends.buffer_info()[0]))
need(upcheck.upcheck_graph_add_targets(graph, byref(targets), None, None))
loaded = time.perf_counter()
report = c_void_p()
need(upcheck.upcheck_check(graph, None, None, byref(report), None))
checked = time.perf_counter()
count, stride = c_size_t(), c_size_t()
findings = upcheck.upcheck_report_findings(report, byref(count), byref(stride))
words = memoryview((ctypes.c_uint32 * (count.value * stride.value // 4)).from_address(findings)).cast("B").cast("I")
total = sum(words[2::stride.value // 4])
read = time.perf_counter()
print(*(round(1e6 * span) for span in (loaded - start, checked - loaded, read - checked)), count.value, total)
upcheck.upcheck_report_free(report)
upcheck.upcheck_graph_free(graph)
