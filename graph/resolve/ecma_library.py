"""What JavaScript's standard library and its hosts provide, as far as resolution has to know. Names only."""

from __future__ import annotations

GENERATOR = "<generator>"  # the name of a Shape's type: what a generator function gives, to be iterated
INSTANCE = "instanceof"  # the text of a CAST to an instance of the class that its base is
TYPE = "type"  # the text of a reference that names a type
ITERATOR = "[Symbol.iterator]"

ELEMENT_RESULTS = frozenset({"at", "find", "findLast", "pop", "shift"})
SAME_RESULTS = frozenset({"filter", "slice", "concat", "reverse", "sort", "toSorted", "toReversed", "splice", "fill"})
FIRST_IS_ELEMENT = frozenset(
    {"map", "forEach", "filter", "find", "findIndex", "findLast", "findLastIndex", "some", "every", "flatMap", "sort"}
)
SECOND_IS_ELEMENT = frozenset({"reduce", "reduceRight", "sort"})
MAP_METHODS = frozenset({"get", "set", "has", "delete", "clear", "forEach", "values", "keys", "entries", "size"})
PROMISE_METHODS = frozenset({"then", "catch", "finally"})
OBJECT_METHODS = frozenset(
    {"toString", "hasOwnProperty", "valueOf", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString"}
)

GLOBAL_NAMES = """
    Array ArrayBuffer BigInt Boolean DataView Date Error Function Infinity Intl JSON Map Math NaN Number Object Promise
    Proxy Reflect RegExp Set String Symbol TypeError WeakMap WeakSet globalThis undefined arguments
    console process require module exports window document navigator self global location history localStorage
    sessionStorage fetch alert confirm prompt atob btoa escape unescape eval isNaN isFinite parseInt parseFloat
    encodeURI encodeURIComponent decodeURI decodeURIComponent setTimeout setInterval setImmediate clearTimeout
    clearInterval clearImmediate queueMicrotask requestAnimationFrame cancelAnimationFrame requestIdleCallback
    structuredClone crypto performance caches addEventListener removeEventListener dispatchEvent postMessage
    getComputedStyle matchMedia importScripts describe it test expect beforeEach afterEach beforeAll afterAll before
    after suite vi jest jasmine cy chai sinon assert $ jQuery __dirname __filename import print define
"""
GLOBALS = frozenset(GLOBAL_NAMES.split())
HOST_METHOD_NAMES = """
    addEventListener appendChild attachEvent attachShadow charCodeAt cloneNode codePointAt compareDocumentPosition
    createElement createReadStream createServer createTextNode createWriteStream disconnectedCallback dispatchEvent
    elementFromPoint endsWith findIndex findLast findLastIndex flatMap forEach fromEntries getAllResponseHeaders
    getAttribute getBoundingClientRect getComputedStyle getContext getDate getElementById getElementsByClassName
    getElementsByTagName getFullYear getHeader getHours getItem getMinutes getMonth getOwnPropertyDescriptor
    getOwnPropertyNames getPrototypeOf getReader getSeconds getTime getTimezoneOffset getUTCDate getWriter
    hasAttribute hasOwnProperty importKey includes indexOf insertAdjacentHTML insertBefore isPrototypeOf lastIndexOf
    localeCompare matchAll objectStore padStart parseFromString pipeThrough pipeTo preventDefault propertyIsEnumerable
    querySelector querySelectorAll readAsText readFile readFileSync reduceRight releaseLock removeAttribute
    removeChild removeEventListener removeItem replaceAll replaceChild replaceWith requestAnimationFrame
    respondWith scrollIntoView setAttribute setHeader setItem setRequestHeader setTimeout startsWith
    stopImmediatePropagation stopPropagation subscribe toBeDefined toDateString toFixed toHaveBeenCalled
    toISOString toLocaleDateString toLocaleString toLowerCase toPrecision toString toUpperCase toUTCString
    trimEnd trimStart waitUntil writeFile writeFileSync writeHead
"""
HOST_METHODS = frozenset(HOST_METHOD_NAMES.split())
