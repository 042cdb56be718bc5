"""The native library and its C interface (compile/c_api.h), through ctypes."""

import ctypes
import os
from pathlib import Path

from plimsoll.errors import PlimsollError

# Handles are plain addresses: nothing on this side looks into them.
_handle = ctypes.c_void_p
_handle_out = ctypes.POINTER(ctypes.c_void_p)
_text = ctypes.c_char_p
_size = ctypes.c_size_t
_int = ctypes.c_int
# PlimsollRuleLower: called by the core with data, the types as JSON, and where the answer goes.
RULE_LOWER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)

# Every function of compile/c_api.h: its result, then its arguments.
_FUNCTIONS = {
    "plimsoll_version": (_text,),
    "plimsoll_error_code": (_text, _handle),
    "plimsoll_error_message": (_text, _handle),
    "plimsoll_error_is_user_mistake": (_int, _handle),
    "plimsoll_error_free": (None, _handle),
    "plimsoll_string_data": (_handle, _handle),
    "plimsoll_string_size": (_size, _handle),
    "plimsoll_string_free": (None, _handle),
    "plimsoll_module_parse": (_handle, _handle, _size, _text, _handle_out),
    "plimsoll_module_free": (None, _handle),
    "plimsoll_module_text": (_handle, _handle, _int),
    "plimsoll_module_verify": (_handle, _handle),
    "plimsoll_module_summary": (_handle, _handle, _size),
    "plimsoll_module_peak": (_handle, _handle),
    "plimsoll_pipeline_steps": (_handle,),
    "plimsoll_hidden_memory": (_handle, _text, _size, _size, _size),
    "plimsoll_module_compile": (_handle, _handle, _text, _text),
    "plimsoll_largest_values": (_handle, _text, _size, _size),
    "plimsoll_module_simplify": (_handle, _handle, _text, _handle_out, _handle_out),
    "plimsoll_rules": (_handle,),
    "plimsoll_rule_answer": (None, _handle, _text, _size, _text, _size),
    "plimsoll_rule_refuse": (None, _handle, _text, _size, _text),
    "plimsoll_rule_add": (
        _handle,
        _text,
        ctypes.POINTER(_text),
        ctypes.POINTER(_size),
        _size,
        RULE_LOWER,
        _handle,
        _handle_out,
    ),
    "plimsoll_rule_remove": (None, _handle),
    "plimsoll_planner_make": (_handle, _handle, _text, _handle_out),
    "plimsoll_planner_free": (None, _handle),
    "plimsoll_planner_next": (_handle, _handle, _handle_out, _handle_out),
    "plimsoll_planner_tell": (None, _handle, ctypes.c_int64, ctypes.c_int64),
    "plimsoll_kernel_handler": (_handle, _handle),
    "plimsoll_calibrate": (_handle,),
    "plimsoll_kernel_times": (_handle,),
    "plimsoll_module_op": (_handle, _handle),
    "plimsoll_op_name": (_text, _handle),
    "plimsoll_op_operand_count": (_size, _handle),
    "plimsoll_op_operand": (_handle, _handle, _size),
    "plimsoll_op_result_count": (_size, _handle),
    "plimsoll_op_result": (_handle, _handle, _size),
    "plimsoll_op_region_count": (_size, _handle),
    "plimsoll_op_block_count": (_size, _handle, _size),
    "plimsoll_op_block": (_handle, _handle, _size, _size),
    "plimsoll_op_parent": (_handle, _handle),
    "plimsoll_op_next": (_handle, _handle),
    "plimsoll_block_first_op": (_handle, _handle),
    "plimsoll_block_parent": (_handle, _handle),
    "plimsoll_block_argument_count": (_size, _handle),
    "plimsoll_block_argument": (_handle, _handle, _size),
    "plimsoll_op_attributes": (_handle, _handle),
    "plimsoll_op_attribute_text": (_handle, _handle, _text),
    "plimsoll_op_location_text": (_handle, _handle),
    "plimsoll_op_source": (_handle, _handle),
    "plimsoll_op_text": (_handle, _handle),
    "plimsoll_value_type": (_handle, _handle),
    "plimsoll_value_type_json": (_handle, _handle),
    "plimsoll_value_defining_op": (_handle, _handle),
    "plimsoll_value_block": (_handle, _handle),
    "plimsoll_value_index": (_size, _handle),
    "plimsoll_value_use_count": (_size, _handle),
    "plimsoll_value_user": (_handle, _handle, _size),
}


def _load() -> ctypes.CDLL:
    path = Path(__file__).with_name("libplimsoll.so")
    # RTLD_LOCAL: our symbols stay out of the way of XLA's, which live in the same process.
    library = ctypes.CDLL(str(path), mode=os.RTLD_LOCAL | os.RTLD_NOW)
    for name, (result, *arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


lib = _load()
VERSION: str = lib.plimsoll_version().decode()


def check(error: int | None) -> None:
    """Raises a returned PlimsollError* as an exception and frees it; null is success."""
    if not error:
        return
    try:
        code = lib.plimsoll_error_code(error).decode()
        message = lib.plimsoll_error_message(error).decode(errors="replace")
    finally:
        lib.plimsoll_error_free(error)
    raise PlimsollError(code, message)


def take_string(string: int) -> bytes:
    """Returns the bytes of a PlimsollString* and frees it."""
    try:
        return ctypes.string_at(lib.plimsoll_string_data(string), lib.plimsoll_string_size(string))
    finally:
        lib.plimsoll_string_free(string)
