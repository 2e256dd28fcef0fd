/** Variables that decide which program a name means, that are themselves commands, or that programs read. */

const DECISIVE =
  /^(?:PATH|HOME|PWD|OLDPWD|CDPATH|SHELL|ENV|PS[0-4]|PROMPT_COMMAND|LD_\w+|DYLD_\w+|BASH\w*|SHELLOPTS|GLOBIGNORE|EXECIGNORE|GCONV_PATH|NODE_OPTIONS|PERL5OPT|RUBYOPT|PYTHONSTARTUP|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|TAR_OPTIONS|RSYNC_RSH|MAKEFLAGS|LESSOPEN|LESSCLOSE)$/
/** The shell reads what they are given as arithmetic, which may start programs. */
const INTEGERS = /^(?:OPTIND|RANDOM|SRANDOM|SECONDS|HISTCMD)$/
/** The shell itself reads the rest of a line by them. */
const LOCALES = /^(?:LANG|LC_[A-Z]+)$/
const COMMANDS = /^(?:\w*PAGER|\w*EDITOR|VISUAL|BROWSER|\w*ASKPASS|GIT_\w+|CVS_RSH|npm_config_\w+)$/

/** What programs may be given by a line without an answer, and which values. */
const HARMLESS: readonly (readonly [names: RegExp, values: RegExp])[] = [
  // In other encodings a byte of a letter may be a sign that the shell reads.
  [/^(?:LANG|LC_[A-Z]+)$/, /^(?:|C|POSIX|(?:C|[a-z]{2,3}(?:_[A-Z]{2})?)\.utf-?8|en(?:_[A-Z]{2})?)$/i],
  [/^LANGUAGE$/, /^[\w.@:-]*$/],
  [/^IFS$/, /^[\s\S]*$/],
  [/^TZ$/, /^(?:[A-Za-z][\w+-]*(?:\/[A-Za-z][\w+-]*)*)?$/],
  [/^(?:NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|CI|COLUMNS|LINES|PORT|VERBOSE|CGO_ENABLED|SOURCE_DATE_EPOCH)$/, /^\w*$/],
  [/^(?:PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|PYTHONHASHSEED|RUST_BACKTRACE|GIT_TERMINAL_PROMPT|GIT_OPTIONAL_LOCKS)$/, /^\w*$/],
  [/^(?:TERM|NODE_ENV|APP_ENV|RAILS_ENV|RACK_ENV|MIX_ENV|GOOS|GOARCH|LOG_LEVEL|DEBIAN_FRONTEND)$/, /^[\w-]*$/],
  [/^(?:RUST_LOG|DEBUG)$/, /^[\w.,:*=-]*$/],
  [/^GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)$/, /^[^\n]*$/],
  [/^(?:PAGER|GIT_PAGER|MANPAGER|SYSTEMD_PAGER|AWS_PAGER|GH_PAGER|BAT_PAGER)$/, /^(?:|cat|less|more)$/],
  [/^(?:EDITOR|VISUAL|GIT_EDITOR|GIT_SEQUENCE_EDITOR)$/, /^(?:true|false|:)$/],
]

/** Programs take code, libraries, settings or places of these from them. */
const STEERING =
  /^(?:XDG_\w+|NODE_\w*PATH|PERL5?LIB|PERL5DB|RUBYLIB|GEM_\w+|BUNDLE_\w+|PYTHON(?:PATH|HOME|USERBASE|INSPECT|BREAKPOINT|PLATLIBDIR|PYCACHEPREFIX|EXECUTABLE)|LUA_\w+|TCLLIBPATH|R_\w+|PHPRC|PHP_INI_SCAN_DIR|CLASSPATH|JDK_JAVA_OPTIONS|JAVA_OPTS|MAVEN_\w+|GRADLE_OPTS|SBT_OPTS|DOTNET_\w+|CORECLR_\w+|COMPLUS_\w+|(?:CARGO|RUSTC|RUSTUP|RUSTDOC)(?:_\w+)?|RUSTFLAGS|GO(?:FLAGS|ROOT|TOOLCHAIN|ENV|_LDSO)|CC|CXX|CPP|LD|AR|AS|MAKE|MFLAGS|GNUMAKEFLAGS|CMAKE_\w+|OPENSSL_\w+|SSL_CERT_\w+|CURL_HOME|WGETRC|SYSTEM_WGETRC|RIPGREP_CONFIG_PATH|GREP_OPTIONS|LESS(?:KEY\w*)?|TERMINFO\w*|TERMCAP|INPUTRC|GNUPGHOME|KUBECONFIG|DOCKER_\w+|(?:AWS|CLOUDSDK)_CONFIG\w*|SSH_\w+|SUDO_\w+|TMPDIR|POSIXLY_CORRECT|MALLOC_\w+|GLIBC_TUNABLES|NLSPATH|LOCPATH|HOSTALIASES|RES_OPTIONS|[Hh][Tt][Tt][Pp][Ss]?_[Pp][Rr][Oo][Xx][Yy]|[Aa][Ll][Ll]_[Pp][Rr][Oo][Xx][Yy])$/

/** True when a program that was judged without this value might start, load or trust something else because of it. `PATH` is for the caller. */
export function isSteering(name: string, value: string): boolean {
  return name !== 'PATH' && (isDecisive(name, value) || STEERING.test(name)) && !isHarmless(name, value)
}

/** True when giving `name` this value (undefined = not known) may change which programs the shell starts, or how it reads. */
export function isDecisive(name: string, value: string | undefined): boolean {
  if (INTEGERS.test(name)) return value === undefined || !/^\d*$/.test(value)
  if (LOCALES.test(name)) return !isHarmless(name, value)
  return DECISIVE.test(name) || (COMMANDS.test(name) && !isHarmless(name, value))
}

/** True when a program that finds this value in its environment does nothing but what it is there for. */
export function isHarmless(name: string, value: string | undefined): boolean {
  return value !== undefined && HARMLESS.some(([names, values]) => names.test(name) && values.test(value))
}
