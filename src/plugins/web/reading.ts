/**
 * Starts the reader for one page at a time, a few at once (decision 070).
 *
 * I1 A page that the reader does not finish in time is read once more for its text alone; then it is refused.
 */
import { ToolError, type NativeHost } from '../../ports/plugin.js'
import { LIMITS } from '../../protocol/limits.js'
import { type PageRequest, ReadPage } from '../../protocol/web/page.js'

/** Absolute paths of Node and of the program. */
export interface ReaderProgram {
  readonly node: string
  readonly reader: string
}

const { reading, readingText, readers, readerMemory, rendered } = LIMITS.web

/** Answers what a model gets of a page. Rejects with `ToolError`, or when `signal` aborts. */
export type Reading = (request: PageRequest, html: string, signal: AbortSignal) => Promise<ReadPage>

export function createReading(
  { processes, paths, childEnv }: Pick<NativeHost['effects'], 'processes' | 'paths' | 'childEnv'>,
  program: ReaderProgram,
): Reading {
  const seats = createSeats(readers)
  const attempt = async (request: PageRequest, html: string, signal: AbortSignal): Promise<ReadPage | undefined> => {
    const { exitCode, stdout } = await processes.run({
      command: program.node,
      args: [`--max-old-space-size=${readerMemory}`, program.reader],
      cwd: paths.temp,
      env: childEnv,
      signal,
      timeoutMs: request.as === 'article' ? reading : readingText,
      captureBytes: rendered * 8,
      stdin: `${JSON.stringify(request)}\n${html}`,
    })
    signal.throwIfAborted()
    return exitCode === 0 ? ReadPage.parse(JSON.parse(stdout)) : undefined
  }
  return (request, html, signal) =>
    seats(async () => {
      signal.throwIfAborted()
      const read = (await attempt(request, html, signal)) ?? (await attempt({ ...request, as: 'text' }, html, signal)) // I1
      if (read === undefined) throw new ToolError('The page could not be read in time. Its source is there with the format "html".')
      return read
    })
}

/** Work begins in order, so many at once. */
function createSeats(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let taken = 0
  return async (work) => {
    if (taken === most) await new Promise<void>((resolve) => void waiting.push(resolve))
    else taken++
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) taken--
      else next()
    }
  }
}
