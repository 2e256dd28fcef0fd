/*
 * Notes every change of a file below SVC_TEST_RECORD_UNDER in the order in which they happen, in the file SVC_TEST_RECORD.
 * Loaded with LD_PRELOAD before a program that knows nothing of it. A record: kind, inode, offset, length of the bytes, length of the path, path, bytes.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *under; /* a copy: Node overwrites the environment it was given */
static int record = -1;
static unsigned long syncs;

/* Programs that the server starts are not recorded. */
__attribute__((constructor)) static void begin(void) {
  unsetenv("LD_PRELOAD");
  const char *file = getenv("SVC_TEST_RECORD"), *folder = getenv("SVC_TEST_RECORD_UNDER");
  under = folder ? strdup(folder) : "";
  if (file && folder) record = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static int isOurs(const char *path) {
  if (record < 0 || strncmp(path, under, strlen(under))) return 0;
  const char *end = path + strlen(path);
  return !(end - path > 4 && !strcmp(end - 4, "-shm")) && !strstr(path, " (deleted)");
}

static int pathOf(int fd, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = record < 0 ? -1 : readlink(link, path, 4095);
  if (length < 0) return 0;
  path[length] = 0;
  return isOurs(path);
}

/* Where a name is: its folder may be told by a descriptor (/proc/self/fd/N). 0 when it is none of ours. */
static int placeOf(const char *given, char *path) {
  const char *name = strrchr(given, '/');
  char folder[4096];
  if (record < 0 || !name || name - given >= 4096) return 0;
  memcpy(folder, given, name - given);
  folder[name - given] = 0;
  int kept = errno;
  int found = realpath(*folder ? folder : "/", path) && strlen(path) + strlen(name) < 4096;
  errno = kept;
  return found && isOurs(strcat(path, name));
}

static void note(char kind, unsigned long inode, unsigned long offset, const char *path, const struct iovec *parts, int count, size_t limit) {
  unsigned int length = 0;
  for (int i = 0; i < count; i++) length += parts[i].iov_len;
  if (length > limit) length = limit;
  unsigned short name = strlen(path);
  size_t size = 1 + 8 + 8 + 4 + 2 + name + length, at = 0;
  char *whole = malloc(size);
#define PUT(from, bytes) (memcpy(whole + at, from, bytes), at += bytes)
  PUT(&kind, 1); PUT(&inode, 8); PUT(&offset, 8); PUT(&length, 4); PUT(&name, 2); PUT(path, name);
  for (int i = 0; i < count && at < size; i++) {
    size_t piece = parts[i].iov_len < size - at ? parts[i].iov_len : size - at;
    PUT(parts[i].iov_base, piece);
  }
  static ssize_t (*plain)(int, const void *, size_t);
  if (!plain) plain = dlsym(RTLD_NEXT, "write");
  if (plain(record, whole, size) != (ssize_t)size) abort();
  free(whole);
}

static unsigned long inodeOf(int fd) {
  struct stat found;
  return fstat(fd, &found) ? 0 : found.st_ino;
}

static void noteWrite(int fd, const char *path, off64_t offset, const struct iovec *parts, int count, ssize_t written) {
  if (written > 0) note('W', inodeOf(fd), offset, path, parts, count, written);
}

#define REAL(type, name, ...) static type (*real)(__VA_ARGS__); if (!real) real = dlsym(RTLD_NEXT, name)
#define KEEP(result, call, noted) ({ pthread_mutex_lock(&lock); result = (call); int kept = errno; noted; errno = kept; pthread_mutex_unlock(&lock); })

#define AT_OFFSET(name, offset_type) \
  ssize_t name(int fd, const void *from, size_t length, offset_type offset) { \
    REAL(ssize_t, #name, int, const void *, size_t, offset_type); \
    char path[4096]; ssize_t done; \
    if (!pathOf(fd, path)) return real(fd, from, length, offset); \
    struct iovec part = { (void *)from, length }; \
    KEEP(done, real(fd, from, length, offset), noteWrite(fd, path, offset, &part, 1, done)); \
    return done; \
  }
AT_OFFSET(pwrite, off_t)
AT_OFFSET(pwrite64, off64_t)

#define PARTS_AT_OFFSET(name, offset_type) \
  ssize_t name(int fd, const struct iovec *parts, int count, offset_type offset) { \
    REAL(ssize_t, #name, int, const struct iovec *, int, offset_type); \
    char path[4096]; ssize_t done; \
    if (!pathOf(fd, path)) return real(fd, parts, count, offset); \
    KEEP(done, real(fd, parts, count, offset), noteWrite(fd, path, offset, parts, count, done)); \
    return done; \
  }
PARTS_AT_OFFSET(pwritev, off_t)
PARTS_AT_OFFSET(pwritev64, off64_t)

/* Where a write without an offset began: at the place of the descriptor after it, less what was written (appends included). */
ssize_t write(int fd, const void *from, size_t length) {
  REAL(ssize_t, "write", int, const void *, size_t);
  char path[4096]; ssize_t done;
  if (!pathOf(fd, path)) return real(fd, from, length);
  struct iovec part = { (void *)from, length };
  KEEP(done, real(fd, from, length), noteWrite(fd, path, lseek64(fd, 0, SEEK_CUR) - done, &part, 1, done));
  return done;
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
  REAL(ssize_t, "writev", int, const struct iovec *, int);
  char path[4096]; ssize_t done;
  if (!pathOf(fd, path)) return real(fd, parts, count);
  KEEP(done, real(fd, parts, count), noteWrite(fd, path, lseek64(fd, 0, SEEK_CUR) - done, parts, count, done));
  return done;
}

#define TRUNCATES(name, offset_type) \
  int name(int fd, offset_type length) { \
    REAL(int, #name, int, offset_type); \
    char path[4096]; int failed; \
    if (!pathOf(fd, path)) return real(fd, length); \
    KEEP(failed, real(fd, length), if (!failed) note('T', inodeOf(fd), length, path, NULL, 0, 0)); \
    return failed; \
  }
TRUNCATES(ftruncate, off_t)
TRUNCATES(ftruncate64, off64_t)

/* What was written before a sync began is there once it has ended. The lock is not held meanwhile: others write. */
#define SYNCS(name) \
  int name(int fd) { \
    REAL(int, #name, int); \
    char path[4096]; \
    if (!pathOf(fd, path)) return real(fd); \
    pthread_mutex_lock(&lock); \
    unsigned long number = ++syncs; \
    note('B', inodeOf(fd), number, path, NULL, 0, 0); \
    pthread_mutex_unlock(&lock); \
    int failed; \
    KEEP(failed, real(fd), if (!failed) note('E', inodeOf(fd), number, path, NULL, 0, 0)); \
    return failed; \
  }
SYNCS(fsync)
SYNCS(fdatasync)

/* A file that comes into being, and one that is emptied as it is opened. */
#define OPENS(name, before, ...) \
  int name(before const char *given, int flags, ...) { \
    REAL(int, #name, __VA_ARGS__); \
    va_list rest; va_start(rest, flags); \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
    va_end(rest); \
    char path[4096]; \
    if (!(flags & (O_CREAT | O_TRUNC)) || !placeOf(given, path)) return CALL; \
    struct stat found; int fd; \
    KEEP(fd, ({ int was = !stat(given, &found); int made = CALL; \
      if (made >= 0 && !was) note('C', inodeOf(made), 0, path, NULL, 0, 0); \
      else if (made >= 0 && flags & O_TRUNC) note('T', inodeOf(made), 0, path, NULL, 0, 0); \
      made; }), (void)0); \
    return fd; \
  }
#define NONE
#define CALL real(given, flags, mode)
OPENS(open, NONE, const char *, int, mode_t)
OPENS(open64, NONE, const char *, int, mode_t)
#undef CALL
#define FOLDER int folder,
#define CALL real(folder, given, flags, mode)
OPENS(openat, FOLDER, int, const char *, int, mode_t)
OPENS(openat64, FOLDER, int, const char *, int, mode_t)

#define NAMES(name, kind) \
  int name(const char *from, const char *to) { \
    REAL(int, #name, const char *, const char *); \
    char was[4096], path[4096]; int failed; \
    if (!placeOf(from, was) || !placeOf(to, path)) return real(from, to); \
    struct iovec part = { path, strlen(path) }; \
    KEEP(failed, real(from, to), if (!failed) note(kind, 0, 0, was, &part, 1, part.iov_len)); \
    return failed; \
  }
NAMES(rename, 'N')
NAMES(link, 'L')
int unlink(const char *given) {
  REAL(int, "unlink", const char *);
  char path[4096]; int failed;
  if (!placeOf(given, path)) return real(given);
  KEEP(failed, real(given), if (!failed) note('U', 0, 0, path, NULL, 0, 0));
  return failed;
}
