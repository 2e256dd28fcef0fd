/**
 * Which variables exist for whom (threat-model K1): the server reads all of them once; the programs it starts get an
 * allow-list; afterwards the rest is erased, because programs of the same user could read the server's own.
 */
import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'
import { MARK } from './process/program-families.js'
import { cleanSearchPath } from './process/programs-on-path.js'

export type Environment = Readonly<Record<string, string | undefined>>

const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin'

/** Handed to children, when the value carries no login. */
const FOR_CHILDREN = new Set(
  `HOME USER LOGNAME SHELL LANG LANGUAGE TZ TERM NO_COLOR TMPDIR EDITOR VISUAL PAGER DISPLAY WAYLAND_DISPLAY
  XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_STATE_HOME XDG_RUNTIME_DIR XDG_CONFIG_DIRS XDG_DATA_DIRS
  SSH_AUTH_SOCK GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
  HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy
  NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE REQUESTS_CA_BUNDLE GIT_SSL_CAINFO
  NVM_DIR NVM_BIN FNM_DIR VOLTA_HOME PNPM_HOME COREPACK_HOME BUN_INSTALL DENO_DIR ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR
  PYENV_ROOT VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV RBENV_ROOT GEM_HOME GEM_PATH
  JAVA_HOME SDKMAN_DIR MAVEN_HOME M2_HOME GRADLE_USER_HOME ANDROID_HOME ANDROID_SDK_ROOT
  GOPATH GOROOT GOBIN GOPROXY GOFLAGS CARGO_HOME RUSTUP_HOME RUSTUP_TOOLCHAIN DOTNET_ROOT
  HOMEBREW_PREFIX SDKROOT DEVELOPER_DIR LD_LIBRARY_PATH LIBRARY_PATH CPATH PKG_CONFIG_PATH NIX_PATH`.split(/\s+/),
)
/** Read later by the server's own runtime; not for children. */
const FOR_RUNTIME = /^(PATH|PWD|NODE_.*|UV_.*|MALLOC_.*|LD_PRELOAD)$/
const SECRET_NAME = /^SVC_|PASSWORD|PASSWD|PASSPHRASE|SECRET|CREDENTIAL|(^|_)(KEY|TOKEN|AUTH)S?$/i
const LOGIN_IN_VALUE = /:\/\/[^/\s]*@/

/** A frozen copy of the server's environment. */
export function readEnvironment(source: Environment = process.env): Environment {
  return Object.freeze({ ...source })
}

/** The allow-listed part of `env`, with `PATH` reduced to its absolute entries. */
export function childEnvironment(env: Environment): Readonly<Record<string, string>> {
  const allowed: Record<string, string> = { PATH: cleanSearchPath(env['PATH'] ?? '') || DEFAULT_PATH }
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && isForChildren(name, value)) allowed[name] = value
  }
  return Object.freeze(allowed)
}

/**
 * Removes every variable that neither children nor the runtime may have from `process.env`, and on Linux overwrites
 * the original bytes, which `/proc/<pid>/environ` shows for as long as the process lives. Call once, after
 * `readEnvironment`. Best effort: `erased` tells whether the bytes are gone; elsewhere only `process.env` changes.
 */
export function scrubEnvironment(): { readonly removed: number; readonly erased: boolean } {
  let removed = 0
  for (const [name, value = ''] of Object.entries(process.env)) {
    if (isForChildren(name, value) || isForRuntime(name, value) || name === MARK) continue // who started this server may look for it
    delete process.env[name]
    removed += 1
  }
  return { removed, erased: eraseOriginals((name) => process.env[name] !== undefined) }
}

function isForChildren(name: string, value: string): boolean {
  return (FOR_CHILDREN.has(name) || name.startsWith('LC_')) && isHarmless(name, value)
}

function isForRuntime(name: string, value: string): boolean {
  return FOR_RUNTIME.test(name) && isHarmless(name, value)
}

function isHarmless(name: string, value: string): boolean {
  return !SECRET_NAME.test(name) && !LOGIN_IN_VALUE.test(value)
}

/** Zeroes the variables that `keep` does not name where the kernel put them at start; no pointer leads there any more. */
function eraseOriginals(keep: (name: string) => boolean): boolean {
  if (process.platform !== 'linux') return false
  try {
    const { start, end } = originalBlock()
    const memory = openSync('/proc/self/mem', 'r+')
    try {
      const block = Buffer.alloc(end - start)
      if (readSync(memory, block, 0, block.length, start) !== block.length) return false
      for (let at = 0; at < block.length; ) {
        const terminator = block.indexOf(0, at)
        const stop = terminator === -1 ? block.length : terminator
        const [name = ''] = block.toString('utf8', at, stop).split('=', 1)
        if (stop > at && !keep(name)) writeSync(memory, Buffer.alloc(stop - at), 0, stop - at, start + at)
        at = stop + 1
      }
    } finally {
      closeSync(memory)
    }
    return true
  } catch {
    return false
  }
}

/** Addresses of the environment block: fields 50 and 51 of the status line, whose second field may hold any character. */
function originalBlock(): { readonly start: number; readonly end: number } {
  const line = readFileSync('/proc/self/stat', 'latin1')
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  const start = Number(fields[50 - 3])
  const end = Number(fields[51 - 3])
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start <= 0 || end <= start) throw new Error('no environment block')
  return { start, end }
}
