/** `svc logs`: the last of the log that servers of this state directory keep, and what comes. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { isTold } from '../../../platform/node/log.js'
import { logFileOf } from '../../../platform/node/log-file.js'
import { nodePaths } from '../../../platform/node/paths.js'
import { writeError, writeOut } from '../../terminal/output.js'
import type { LogsOptions } from './logs-page.js'
import { type LogRecord, readLogLine, shownLine } from '../../log-line.js'

/** How often a followed file is looked at, ms. */
const PAUSE = 200

/** Prints lines, oldest first; answers 0. Following ends with the process. */
export async function logs(options: LogsOptions): Promise<number> {
  const path = logFileOf(nodePaths(process.env).state)
  const files = [`${path}.1`, path].filter((file) => existsSync(file))
  const texts = files.map((file) => readFileSync(file, 'utf8'))
  const size = existsSync(path) ? Buffer.byteLength(texts.at(-1) ?? '') : 0
  const shown = texts.flatMap((text) => linesOf(text, options)).slice(-options.lines)
  if (shown.length === 0 && !options.follows)
    writeError(files.length === 0 ? `no log yet: ${path} is made by the first server\n` : 'nothing of that was logged\n')
  for (const line of shown) writeOut(`${line}\n`)
  if (options.follows) await follow(path, size, { show: (text) => linesOf(text, options).forEach((line) => writeOut(`${line}\n`)) })
  return 0
}

function linesOf(text: string, { level, plugin, json }: Pick<LogsOptions, 'level' | 'plugin' | 'json'>): string[] {
  return text.split('\n').flatMap((line) => {
    const record = readLogLine(line)
    if (record === undefined || !isWanted(record, level, plugin)) return []
    return [json ? line : shownLine(record)]
  })
}

function isWanted(record: LogRecord, level: LogsOptions['level'], plugin: string | undefined): boolean {
  if (level !== undefined && !isTold(record.level, level)) return false
  return plugin === undefined || Object.values(record).includes(plugin)
}

/** Who wrote a line: the same of every line of one plugin at work in one place. */
const WRITERS: ReadonlySet<string> = new Set('pluginId instanceId packageRevision registryGeneration scope workspaceId scopeId'.split(' '))

/** What comes of one plugin from now on, line by line, until the signal is aborted; without saying who it is. */
export function followLog(
  path: string,
  { plugin, signal }: { readonly plugin: string; readonly signal: AbortSignal },
  show: (line: string) => void,
): Promise<void> {
  const size = existsSync(path) ? statSync(path).size : 0
  const shownText = (text: string) =>
    text.split('\n').forEach((line) => {
      const record = readLogLine(line)
      if (record !== undefined && isWanted(record, undefined, plugin)) show(shownLine(withoutWriter(record)))
    })
  return follow(path, size, { signal, show: shownText })
}

function withoutWriter({ time, level, message, ...fields }: LogRecord): LogRecord {
  return { time, level, message, ...Object.fromEntries(Object.entries(fields).filter(([key]) => !WRITERS.has(key))) }
}

/** Whole lines as they are appended, across the change to another file. */
async function follow(path: string, from: number, { show, signal }: { show(text: string): void; signal?: AbortSignal }): Promise<void> {
  let position = from
  for (let rest = ''; signal?.aborted !== true; await delay(PAUSE, undefined, signal && { signal }).catch(() => undefined)) {
    const { size } = await stat(path).catch(() => ({ size: 0 }))
    if (size < position) position = 0
    if (size === position) continue
    const text = rest + (await readFrom(path, position, size))
    position = size
    const end = text.lastIndexOf('\n') + 1
    show(text.slice(0, end))
    rest = text.slice(end)
  }
}

async function readFrom(path: string, from: number, to: number): Promise<string> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(to - from), 0, to - from, from)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}
