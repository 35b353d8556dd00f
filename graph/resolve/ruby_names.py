"""Names that Ruby's own classes, its usual libraries and Rails define: never a sign of a repository's own code."""

from __future__ import annotations

_KERNEL = """
__FILE__ __LINE__ __dir__ __method__
Array Float Hash Integer Rational String abort at_exit attr attr_accessor attr_reader attr_writer autoload binding
block_given? caller caller_locations catch define_method eval exec exit exit! extend fail fork format gets include
instance_method lambda load local_variables loop module_function open p pp prepend print printf private
private_class_method private_constant proc protected public public_class_method putc puts raise rand readline
readlines refine remove_method require require_relative select sleep spawn sprintf srand syscall system test throw
trap undef_method using warn
"""

_OBJECT = """
!~ <=> == === =~ __id__ __method__ __send__ class clone define_singleton_method display dup enum_for eql? equal?
extend freeze frozen? hash inspect instance_eval instance_exec instance_of? instance_variable_defined?
instance_variable_get instance_variable_set instance_variables is_a? itself kind_of? method methods nil? object_id
private_methods public_method public_methods public_send remove_instance_variable respond_to? send singleton_class
singleton_method singleton_methods tap then to_enum to_s yield_self
"""

_CLASS = """
alias_method allocate ancestors attached_object class_eval class_exec class_variable_defined? class_variable_get
class_variable_set class_variables const_defined? const_get const_missing const_set const_source_location constants
include? included_modules instance_methods method_defined? module_eval module_exec name private_instance_methods
private_method_defined? public_instance_method public_instance_methods remove_const subclasses superclass to_s
"""

_COMMON = """
abs accept add add_to after after_action after_save all all? allow any? append apply args arity assert assert_equal
assert_includes assert_match assert_nil assert_not assert_raise assert_raises assert_same assoc at attributes
backtrace be before before_action before_save begin belongs_to between? binmode body build build_stubbed bytes
bytesize call capitalize captures ceil change_column chars chdir children chmod chomp chop chunk chunk_while clear
close closed? code codepoints collect collect! column columns combination commit compact compact! compare compile
concat config configure connect connection content content_type context cookies copy count cover? create create!
create_table cycle data date day decode decrypt default default= delete delete! delete_all delete_at delete_if
describe destroy destroy! destroy_all detect diff difference dig digest dirname disable disjoint? divmod double
downcase drop drop_while each each_byte each_char each_cons each_entry each_key each_line each_pair each_slice
each_value each_with_index each_with_object empty? enable encode encoding encrypt end end_with? entries entry env eq
errors escape event except exception exec_query execute exist? exists exists? exit expand_path expect expires_in
export extname fetch fetch_values field fields file file? filename files fill filter filter! filter_map finalize
find find_all find_by find_by! find_each find_index find_or_create_by first first_or_create fixnum? flat_map flatten
flatten! floor flush force force_encoding format full_messages get get? getlocal given_name grep group group_by gsub
gsub! handle has_and_belongs_to_many has_key? has_many has_one has_value? having head header headers helper hex host
hour html_safe id ids import index index_by inject input insert instance instance_double intern intersect? invert
invoke is_expected it join json keep_if key key? keys kind label last last_modified lazy left length let level limit
line lines link listen ljust load load_file local locale lock log logger lookup lower lstrip map map! mapping mask
match match? matches max max_by mday member? members merge merge! message messages method_missing min min_by minmax
minute mkdir mode model modify module mon month move mtime multiply name names nested new next next! none? not
notify now number offset on one one? open option options opts ord order output owner pack page params parent parse
partition password path pathname paths pattern perform permit permutation pid pluck plus pop port position post pred
prefix prepare prepended presence present? previous print priority process product pull push put quote raise range
rank rassoc raw read read_attribute readable? readlines ready? real reason receive record records redirect
redirect_to reduce ref refresh refute refute_equal refute_nil register reject reject! release reload remove rename
render repeat replace request require required resolve respond respond_with response restore result results resume
retry returning reverse reverse! reverse_each rewind rfind right rindex rjust rollback root rotate round route
routes rows rstrip run sample save save! say scan scheme scope search sec second seek select select! send_data
serialize session set setup shift should shuffle shutdown sign signal signed single_line? size skip slice slice!
sort sort! sort_by source split sql squeeze squish start start_with? starts_with? stat state status step stop store
stream strftime string strip strip! stub sub sub! subject submit subscribe subtract succ success? suffix sum
superset? swapcase symbolize_keys sync synchronize table tag take take_while target task tempfile text time times
timestamp title to to_a to_ary to_c to_d to_date to_f to_h to_hash to_i to_int to_io to_json to_key to_model
to_param to_path to_proc to_r to_regexp to_set to_str to_sym to_time to_xml to_yaml today token touch tr transaction
transform_keys transform_values translate transpose trigger truncate try try! type uniq uniq! unique unlink unlock
unpack unpack1 unsafe unshift until upcase update update! update_all update_attribute update_attributes
update_column update_columns upload uri url use user username utc valid? validate validates validates_presence_of
value value? values values_at verify version view wait wait_until wday week where with with_index
with_indifferent_access with_object without word wrap write write_attribute yday year zero? zip
"""

_CORE = """
Array BasicObject BigDecimal Binding CGI Class Complex Data Date DateTime Delegator Digest Dir ERB Encoding Enumerable
Enumerator Errno Exception FalseClass Fiber File FileUtils Float GC Hash IO Integer Kernel Logger Marshal MatchData Math
Method Module Monitor Mutex NameError NilClass NoMethodError Numeric Object ObjectSpace OpenStruct Pathname Proc Process
Psych Queue Ractor Random Range Rational Regexp SecureRandom Set Signal Socket StringIO String Struct Symbol Tempfile
Thread Time TrueClass URI UnboundMethod YAML
"""

CORE_CLASSES = frozenset(_CORE.split())  # opened by a repository, they still have more than it shows
KERNEL = frozenset(_KERNEL.split())
OBJECT_METHODS = frozenset(_OBJECT.split())
CLASS_METHODS = frozenset(_CLASS.split())
COMMON_METHODS = frozenset(_COMMON.split()) | KERNEL | OBJECT_METHODS | CLASS_METHODS
