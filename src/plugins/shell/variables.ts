/** Variables that decide which program a name means, or that are themselves commands. */

const DECISIVE =
  /^(?:PATH|HOME|PWD|OLDPWD|CDPATH|SHELL|ENV|PS[0-4]|PROMPT_COMMAND|LD_\w+|DYLD_\w+|BASH\w*|SHELLOPTS|GLOBIGNORE|EXECIGNORE|GCONV_PATH|NODE_OPTIONS|PERL5OPT|RUBYOPT|PYTHONSTARTUP|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|TAR_OPTIONS|RSYNC_RSH|MAKEFLAGS|LESSOPEN|LESSCLOSE)$/
const COMMANDS = /^(?:\w*PAGER|\w*EDITOR|VISUAL|BROWSER|\w*ASKPASS|GIT_\w+|CVS_RSH|npm_config_\w+)$/
const HARMLESS_NAMES = /^GIT_(?:(?:AUTHOR|COMMITTER)_\w+|TERMINAL_PROMPT|OPTIONAL_LOCKS|TRACE\w*)$/
const HARMLESS_VALUES = new Set(['', 'cat', 'less', 'more', 'true', 'false', ':', '0', '1'])

/** True when giving `name` this value (undefined = not known) may change which programs are started. */
export function isDecisive(name: string, value: string | undefined): boolean {
  if (DECISIVE.test(name)) return true
  return COMMANDS.test(name) && !HARMLESS_NAMES.test(name) && (value === undefined || !HARMLESS_VALUES.has(value))
}
