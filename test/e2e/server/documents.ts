/** Documents as something that can be followed: their blocks, the commands in their text, their links; and a terminal to follow them in. */
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Place } from './place.js'
import { PROGRAM } from './server.js'
import { PATIENCE } from '../../fakes/patience.js'

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

export interface Block {
  /** Empty when the fence names none. */
  readonly language: string
  readonly text: string
}

const FENCED = /^( *)(`{3,})(\w*)[^\n]*\n([^]*?)^\1\2$/gm

/** The fenced blocks of a document, in order; `path` is relative to the root of the repository. */
export function blocksOf(path: string): Block[] {
  return [...read(path).matchAll(FENCED)].map(([, indent = '', , language = '', text = '']) => {
    return { language, text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), '') }
  })
}

/** What stands outside fenced blocks. */
export function proseOf(path: string): string {
  return read(path).replaceAll(FENCED, '')
}

/** Lines that look like commands and are in no fenced block: indented ones, where nobody would look for them. */
export function indentedCommands(path: string): string[] {
  return [...proseOf(path).matchAll(/^ {4,}((?:svc|node|npm|npx|curl|git|cp|mkdir|systemctl|sqlite3)\b.*)$/gm)].map(([, line = '']) => line)
}

/** Calls of `svc` in the running text. */
export function inlineCalls(path: string): string[] {
  return [...proseOf(path).matchAll(/`(svc [a-z][^`\n]*)`/g)].map(([, call = '']) => call)
}

/** Relative links: the file, from the root of the repository, and the heading, which may be empty. */
export function linksOf(path: string): { readonly file: string; readonly heading: string }[] {
  return [...proseOf(path).matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)/g)].map(([, file = '', heading = '']) => ({
    file: file === '' ? path : join(dirname(path), file),
    heading,
  }))
}

/** Names of the headings of a document in links. */
export function headingsOf(path: string): string[] {
  const anchors = [...proseOf(path).matchAll(/^<a id="([\w.-]+)"><\/a>$/gm)].map(([, name = '']) => name)
  const slugs = [...proseOf(path).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
  return [...anchors, ...slugs]
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

export interface Terminal {
  /**
   * Runs lines in the repository of the place, as `sh -e` does. Answers once they have ended, or as soon as `until` has been printed,
   * and then ends what is left of them.
   */
  run(script: string, until?: RegExp): Promise<{ readonly code: number | undefined; readonly printed: string }>
}

/** A terminal with `svc` on its search path, in a directory that looks like a clone of this repository to those who look for parts of it. */
export function openTerminal(place: Place, variables: Readonly<Record<string, string>> = {}): Terminal {
  const bin = join(place.root, 'bin')
  mkdirSync(bin)
  program(bin, 'svc', `exec "${process.execPath}" "${PROGRAM}" "$@"`)
  // Stands for the browser of a person.
  program(bin, 'xdg-open', `echo "$@" >"${join(place.root, 'opened')}"`)
  symlinkSync(dirname(PROGRAM), join(place.repo, 'dist'))
  symlinkSync(join(ROOT, 'examples'), join(place.repo, 'examples'))
  const env = { ...place.env, ...variables, PATH: `${bin}:${dirname(process.execPath)}:${place.env['PATH']}` }

  return {
    run: (script, until) =>
      new Promise((resolve, reject) => {
        const child = spawn('sh', ['-e', '-c', script], { cwd: place.repo, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
        let printed = ''
        const end = () => {
          if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
        }
        const timer = setTimeout(() => {
          end()
          reject(new Error(`this did not end in time: ${script}\n${printed}`))
        }, PATIENCE)
        const hear = (piece: string) => {
          printed += piece
          if (until?.test(printed) === true) end()
        }
        child.stdout.setEncoding('utf8').on('data', hear)
        child.stderr.setEncoding('utf8').on('data', hear)
        child.once('error', reject)
        child.once('close', (code) => {
          clearTimeout(timer)
          resolve({ code: code ?? undefined, printed })
        })
      }),
  }
}

function program(directory: string, name: string, script: string): void {
  writeFileSync(join(directory, name), `#!/bin/sh\n${script}\n`)
  chmodSync(join(directory, name), 0o755)
}
