/**
 * The native part of node-pty, and nothing of its JavaScript: that loses output at exit, spins while a program does not
 * read its input, and writes to descriptors it has closed.
 */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

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

/** Rejects with the reason when this machine has no such binding. */
export async function loadPtyBinding(): Promise<PtyBinding> {
  if (process.platform === 'win32') throw new Error('Terminals are not offered on Windows.')
  const { native } = bindingOf(await import('node-pty'))
  const helper = helperPath()
  return {
    fork(program, args, { env, cwd, cols, rows }, onExit) {
      const isUtf8 = true
      const { fd, pid, pty } = native.fork(program, [...args], [...env], cwd, cols, rows, UNCHANGED, UNCHANGED, isUtf8, helper, onExit)
      return { fd, pid, path: pty }
    },
    resize: (fd, cols, rows) => native.resize(fd, cols, rows),
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
  resize(fd: number, cols: number, rows: number): void
}

/** The package exports its native part without declaring it; its version is pinned. */
function bindingOf(module: object): { readonly native: Native } {
  const native: unknown = 'native' in module ? module.native : undefined
  if (typeof native !== 'object' || native === null || !('fork' in native) || !('resize' in native)) {
    throw new Error('The package node-pty has no native part this version knows.')
  }
  return module as { native: Native }
}

/** The program through which macOS starts others; '' where there is none. */
function helperPath(): string {
  const root = dirname(createRequire(import.meta.url).resolve('node-pty/package.json'))
  const places = ['build/Release', `prebuilds/${process.platform}-${process.arch}`]
  return places.map((place) => join(root, place, 'spawn-helper')).find((path) => existsSync(path)) ?? ''
}
