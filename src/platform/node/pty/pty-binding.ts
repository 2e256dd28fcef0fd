/**
 * The native part of node-pty, and nothing of its JavaScript: that loses output at exit, spins while a program does not
 * read its input, and writes to descriptors it has closed.
 */
import { closeSync, existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { isInheritable, loadCloseOnExec } from '../process/descriptors.js'

const require = createRequire(import.meta.url)
const PREBUILT = `@lydell/node-pty-${process.platform}-${process.arch}`

export interface PtyBinding {
  /** Starts `program` in a session of its own behind a new terminal; `onExit` is called once, with the exit code or the signal. */
  fork(
    program: string,
    args: readonly string[],
    options: { readonly env: readonly string[]; readonly cwd: string; readonly cols: number; readonly rows: number },
    onExit: (code: number, signal: number) => void,
  ): { readonly fd: number; readonly pid: number; readonly path: string }
  resize(fd: number, cols: number, rows: number): void
}

/** Keeps user and group. */
const UNCHANGED = -1

/**
 * The binding compiled at the installation, or the one that came as a binary where that is missing or leaves terminals open
 * in other programs. Rejects with the reason when this machine has neither.
 */
export async function loadPtyBinding(): Promise<PtyBinding> {
  if (process.platform === 'win32') throw new Error('Terminals are not offered on Windows.')
  const reasons: string[] = []
  for (const load of [loadCompiledBinding, loadPrebuiltBinding]) {
    try {
      return await load()
    } catch (error) {
      reasons.push(error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error))
    }
  }
  throw new Error(`The terminal binding does not load, neither compiled here nor as it came: ${reasons.join(' ')}`)
}

/** From the sources of the package, which `scripts/native.mjs` corrects so that terminals are close-on-exec. */
export async function loadCompiledBinding(): Promise<PtyBinding> {
  const { native } = bindingOf(await import('node-pty'))
  if (leaks(native)) throw new Error('Other programs would inherit its terminals.')
  const root = dirname(require.resolve('node-pty/package.json'))
  return createBinding(native, [join(root, 'build/Release'), join(root, `prebuilds/${process.platform}-${process.arch}`)])
}

/** The same sources as they are, compiled by others; its terminals are made close-on-exec before anything else can start. */
export async function loadPrebuiltBinding(): Promise<PtyBinding> {
  const closeOnExec = await loadCloseOnExec()
  const root = dirname(createRequire(require.resolve('@lydell/node-pty/package.json')).resolve(`${PREBUILT}/package.json`))
  const { native } = bindingOf({ native: require(join(root, 'pty.node')) as unknown })
  const binding = createBinding(native, [root])
  return {
    ...binding,
    fork(...args) {
      const terminal = binding.fork(...args)
      closeOnExec(terminal.fd)
      return terminal
    },
  }
}

/** `places` may hold the program through which macOS starts others. */
function createBinding(native: Native, places: readonly string[]): PtyBinding {
  const helper = places.map((place) => join(place, 'spawn-helper')).find((path) => existsSync(path)) ?? ''
  return {
    fork(program, args, { env, cwd, cols, rows }, onExit) {
      const isUtf8 = true
      const { fd, pid, pty } = native.fork(program, [...args], [...env], cwd, cols, rows, UNCHANGED, UNCHANGED, isUtf8, helper, onExit)
      return { fd, pid, path: pty }
    },
    resize: (fd, cols, rows) => native.resize(fd, cols, rows),
  }
}

function leaks(native: Native): boolean {
  const { master, slave } = native.open(80, 24)
  try {
    return isInheritable(String(master))
  } finally {
    closeSync(master)
    closeSync(slave)
  }
}

interface Native {
  fork(
    ...args: readonly [
      string,
      string[],
      string[],
      string,
      number,
      number,
      number,
      number,
      boolean,
      string,
      (code: number, signal: number) => void,
    ]
  ): { readonly fd: number; readonly pid: number; readonly pty: string }
  open(cols: number, rows: number): { readonly master: number; readonly slave: number }
  resize(fd: number, cols: number, rows: number): void
}

/** The package exports its native part without declaring it; its version is pinned. */
function bindingOf(module: object): { readonly native: Native } {
  const native: unknown = 'native' in module ? module.native : undefined
  if (typeof native !== 'object' || native === null || !['fork', 'open', 'resize'].every((name) => name in native)) {
    throw new Error('The package node-pty has no native part this version knows.')
  }
  return module as { native: Native }
}
