"""Method names of Rust's standard library and of `bytes`: an unknown receiver of one may well be a library's."""

from __future__ import annotations

_ITERATORS = """
advance_by all any array_chunks by_ref chain chunks chunks_exact chunks_mut cloned cmp cmp_by collect collect_into
copied count cycle enumerate eq filter filter_map find find_map flat_map flatten fold for_each fuse ge gt inspect
intersperse into_iter is_partitioned is_sorted iter iter_mut last le lt map map_while max max_by max_by_key min min_by
min_by_key ne next next_back next_if nth nth_back partial_cmp partition peek peek_mut peekable position product reduce
rev rfind rfold rposition scan size_hint skip skip_while step_by sum take take_while try_fold try_for_each unzip
windows zip
"""
_COLLECTIONS = """
and_modify append as_mut_ptr as_mut_slice as_ptr as_slice back back_mut binary_search binary_search_by
binary_search_by_key capacity clear clone_from_slice concat contains contains_key copy_from_slice copy_within dedup
dedup_by_key difference drain ends_with entry extend extend_from_slice fill first first_key_value first_mut front
front_mut get get_key_value get_mut get_or_insert get_or_insert_with get_unchecked insert insert_str intersection
into_boxed_slice into_iter into_keys into_values is_disjoint is_empty is_subset is_superset join keys last
last_key_value last_mut leak len make_ascii_lowercase or_default or_insert or_insert_with pop pop_back pop_first
pop_front pop_last push push_back push_front push_str range remove remove_entry repeat replace_range reserve
reserve_exact resize resize_with retain retain_mut reverse rotate_left rotate_right rsplit set_len shrink_to_fit sort
sort_by sort_by_key sort_unstable sort_unstable_by sort_unstable_by_key splice split_at split_at_mut split_first
split_last split_off splitn starts_with swap swap_remove symmetric_difference to_vec truncate try_reserve union values
values_mut
"""
_TEXT = """
as_bytes as_bytes_mut as_mut_str as_os_str as_str bytes char_indices chars eq_ignore_ascii_case escape_debug
escape_default find from_utf8 from_utf8_lossy into_boxed_str into_bytes into_string is_alphabetic is_alphanumeric
is_ascii is_ascii_alphabetic is_ascii_digit is_char_boundary is_control is_digit is_lowercase is_numeric is_uppercase
is_whitespace len_utf8 lines matches parse replace replacen rfind rmatches rsplit_once rsplitn split
split_ascii_whitespace split_inclusive split_once split_terminator split_whitespace strip_prefix strip_suffix
to_ascii_lowercase to_ascii_uppercase to_digit to_lowercase to_owned to_str to_string to_string_lossy to_uppercase
trim trim_end trim_end_matches trim_matches trim_start trim_start_matches
"""
_VALUES = """
alternate and and_then as_any as_deref as_deref_mut as_mut as_pin_mut as_ref assume_init borrow borrow_mut clamp clone
clone_from cmp copied debug_list debug_map debug_struct debug_tuple default deref deref_mut description downcast
downcast_mut downcast_ref drop end entries eq err expect expect_err field finish finish_non_exhaustive flatten fmt
from from_str get_or_init get_ref hash insert inspect_err into into_inner is_err is_none is_none_or is_ok is_ok_and
is_some is_some_and iter map map_err map_or map_or_else new ok ok_or ok_or_else or or_else pad partial_cmp replace set
source take then then_some to_owned transpose try_borrow try_borrow_mut try_from try_into try_unwrap type_id unwrap
unwrap_err unwrap_or unwrap_or_default unwrap_or_else unwrap_unchecked update with write_char write_fmt write_str xor
zip
"""
_NUMBERS = """
abs abs_diff acos add asin atan atan2 bit_and cbrt ceil checked_add checked_div checked_mul checked_pow checked_rem
checked_shl checked_sub clamp copysign cos count_ones count_zeros div div_euclid exp floor fract from_be_bytes
from_le_bytes from_ne_bytes hypot index index_mut is_finite is_infinite is_nan is_negative is_positive is_power_of_two
leading_zeros ln log log10 log2 max min mul mul_add neg next_power_of_two not overflowing_add overflowing_mul
overflowing_sub pow powf powi rem rem_euclid reverse_bits rotate_left rotate_right round saturating_add saturating_mul
saturating_sub shl shr signum sin sqrt sub swap_bytes tan to_be to_be_bytes to_bits to_le to_le_bytes to_ne_bytes
trailing_ones trailing_zeros trunc wrapping_add wrapping_mul wrapping_neg wrapping_shl wrapping_shr wrapping_sub
"""
_SYSTEM = """
as_raw_handle as_raw_socket get_unchecked_mut into_raw_handle into_raw_socket saturating_duration_since
accept access advance advance_mut ancestors append arg args as_fd as_millis as_nanos as_path as_raw_fd as_secs
as_secs_f32 as_secs_f64 as_socket bind build by_ref bytes canonicalize checked_duration_since chunk chunk_mut close
code compare_exchange compare_exchange_weak components connect consume copy create create_dir create_dir_all
create_new current current_dir display downgrade duration_since elapsed entered env env_clear env_remove envs exec
exists exit extension fetch_add fetch_and fetch_max fetch_min fetch_or fetch_sub fetch_update fetch_xor file_name
file_stem file_type fill_buf flush get_mut has_remaining has_root id incoming insert into_raw_fd is_absolute is_dir
is_file is_finished is_relative is_symlink iter join kill kind last_os_error len linger listen load local_addr lock
make_contiguous metadata mode modified name nodelay notify_all notify_one now open options output parent park
park_timeout path peek_from peer_addr permissions pid poll poll_next poll_read poll_write pop port pread ptr_eq push
raw_os_error read read_at read_dir read_exact read_line read_link read_to_end read_to_string read_until readonly recv
recv_from recv_timeout remaining remaining_mut remove_dir remove_file rename reset rewind run scope seek send
send_timeout send_to set_extension set_file_name set_len set_linger set_mode set_nodelay set_nonblocking
set_permissions set_port set_read_timeout set_readonly set_ttl set_write_timeout shutdown signal sleep spawn split
start status stderr stdin stdout stop store stream_position strong_count subsec_micros subsec_millis subsec_nanos
success swap symlink_metadata sync_all sync_data take_error then truncate try_clone try_iter try_lock try_read
try_recv try_send try_wait try_write ttl unlock unpark upgrade wait wait_timeout wait_while wait_with_output wake
wake_by_ref weak_count will_wake with_capacity with_context with_extension with_file_name write write_all write_at
yield_now
"""
_MACROS = """
assert assert_eq assert_ne cfg column compile_error concat dbg debug_assert debug_assert_eq debug_assert_ne env eprint
eprintln file format format_args include include_bytes include_str line matches module_path option_env panic print
println stringify thread_local todo unimplemented unreachable vec write writeln
"""
STD_MACROS = frozenset(_MACROS.split())
STD_METHODS = frozenset(f"{_ITERATORS} {_COLLECTIONS} {_TEXT} {_VALUES} {_NUMBERS} {_SYSTEM}".split())
