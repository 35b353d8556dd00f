"""Method names that PHP's own classes and widespread libraries share: never a sign of a repository's own code."""

from __future__ import annotations

_WORDS = """
abort accept add addall addmethod after alert all any append apply assert assertarrayhaskey assertcontains
assertcount assertempty assertequals assertfalse assertinstanceof assertnotnull assertnull assertsame
assertstringcontainsstring asserttrue asxml at attach attr attributes auth authorize avg before begin
begintransaction bind bindparam bindto bindvalue body boot build call cast chain chunk clear clone close
closecursor code collect columncount commit concat connect contains content contents cookie copy count create
createquery createquerybuilder critical current data debug decode decrement delete describe detach diff dispatch
down each emergency encode end enqueue equals error errorinfo escape exchange exec execute exists expects expire
export extend extract fetch fetchall fetchcolumn fetchobject fill filter find findall findby findone
findonebyfind findor findorfail fire first firstorfail flatten flush force forget format from get getalias
getall getargs getarguments getarraycopy getattribute getattributes getbody getby getchildren getclass getclient
getcode getconfig getconnection getcontainer getcontent getcontents getdata getdate getdefault getdescription
getdoctrine getdocument getelement getentitymanager geterror geterrors getextension getfile getfilename getflags
getheader getheaderline getheaders gethost getid getinnererrors getinstance getiterator getkey getlabel
getlastinsertid getlevel getline getlocale getlogger getmanager getmessage getmethod getmethods getmock
getmockbuilder getmodifiers getname getnamespacename getoffset getoption getoptions getoutput getparameter
getparameters getparent getparentclass getpath getpathname getport getprevious getproperties getproperty
getprotocolversion getquery getqueryparams getrealpath getreference getrepository getrequest getresponse
getresult getreturntype getscheme getservice getshortname getsize getsource getstartline getstate getstatus
getstatuscode getstream getstring gettable gettimestamp gettimezone gettitle gettoken gettrace gettraceasstring
gettype geturi geturl getuser getuserid getvalue getvalues getversion groupby guest handle has hasarguments
hasfile hasheader hasheaders hasmethod hasproperty having hydrate id implementsinterface implode import
increment info init input insert invoke invokeargs isabstract isactive isdir isempty isenabled isfile isinstance
isinterface isnull isopen ispublic isstatic issubclassof isvalid item items iterate join json key keys last
lastinsertid leftjoin length limit link listen load lock log login logout lower make map mapping match max
mediatype merge message method methods middleware min mock modify move name newinstance newinstanceargs newquery
next notice notify nullable object offset offsetexists offsetget offsetset offsetunset on once open option
options order orderby orwhere output paginate parse passthru patch path persist ping pipe pluck plus pop post
prepare prepend priority process prophesize publish pull push put query queue quote raw read readline receive
record redirect reduce refresh register release reload remove render replace request reset resolve response
restore result return returns reverse rewind rollback route rowcount run save search seek select send serialize
session set setattribute setbody setcode setdata setdescription seterror setfetchmode setheader setheaders setid
setlogger setmessage setmethods setname setoption setoptions setparameter setparameters setpath setstatus
settime settimezone settitle settype setup setuser setvalue share shift shouldreceive shouldreturn skip slice
sort splice split start state stats status stop store stream string sub submit subscribe sum sync table take tap
teardown tell test text then throw times timestamp title to toarray tojson tostring touch transaction transform
translate trigger trim truncate type unique unlock unserialize unset up update upper url use user valid validate
value values view visit wait warning when where whereid wherein widget will willreturn with withargs withbody
withheader withheaders without write
"""

COMMON_METHODS = frozenset(_WORDS.split())
