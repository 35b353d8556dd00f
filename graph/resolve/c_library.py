"""Functions of the C library and of POSIX: what a call of such a name means when no header of the repository has it."""

from __future__ import annotations

_NAMES = """
    abort abs accept access alarm asprintf atexit atof atoi atol atoll bind bsearch calloc chdir chmod chown clearerr
    clock clock_gettime close closedir connect ctime difftime dlclose dlopen dlsym dup dup2 execl execv execve execvp
    exit fabs fchmod fclose fcntl fdopen feof ferror fflush fgetc fgets fileno floor fmod fopen fork fprintf fputc fputs
    fread free freopen fscanf fseek fseeko fstat fsync ftell ftello ftruncate fwrite getaddrinfo getc getchar getcwd
    getdelim getenv getline getopt getopt_long getpid gettimeofday gmtime gmtime_r htonl htons inet_ntop inet_pton ioctl
    isalnum isalpha isatty isdigit islower isprint ispunct isspace isupper isxdigit kill labs link listen localtime
    localtime_r longjmp lseek lstat malloc memccpy memchr memcmp memcpy memmem memmove mempcpy memset mkdir mkdtemp
    mkstemp mktime mmap mprotect munmap nanosleep ntohl ntohs open opendir perror pipe poll posix_memalign pow pread
    printf putc putchar puts pwrite qsort raise rand random read readdir readlink realloc realpath recv recvfrom recvmsg
    remove rename rewind rmdir scanf select send sendmsg sendto setenv setjmp setlocale setsockopt setvbuf shutdown
    sigaction signal sleep snprintf socket socketpair sprintf sqrt srand srandom sscanf stat strcasecmp strcat strchr
    strcmp strcoll strcpy strcspn strdup strerror strftime strlcat strlcpy strlen strncasecmp strncat strncmp strncpy
    strndup strnlen strpbrk strptime strrchr strsep strsignal strspn strstr strtod strtof strtok strtok_r strtol strtoll
    strtoul strtoull symlink sysconf system time tmpfile tolower toupper truncate umask uname ungetc unlink unsetenv
    usleep utime vasprintf vfprintf vprintf vsnprintf vsprintf wait waitpid write
"""
C_LIBRARY = frozenset(_NAMES.split())
