/** What carries the messages of a language server: the streams of a program of ours, or a connection to one that is not (subsystems e.2). */
import type { ChildPipe, PipeOptions } from '../../../ports/effects.js'
import type { NativeHost } from '../../../ports/plugin.js'
import { LIMITS } from '../../../protocol/limits.js'
import { timeLimit } from '../../../kernel/patience.js'

export interface Line {
  /** False, with nothing queued, when too much waits or it is closed. */
  write(data: Uint8Array): boolean
  pause(): void
  resume(): void
  /** Why it is over, as the end of a sentence that begins with the server. Never rejects. */
  readonly over: Promise<string>
  /** Nothing of it is left. Never rejects. */
  readonly gone: Promise<unknown>
  /** Ends it, now. */
  end(): void
}

export type OpenLine = (onData: (chunk: Uint8Array) => void) => Promise<Line>

/** Starts the program, in a process group of its own. */
type StartProgram = (streams: Pick<PipeOptions, 'inputBacklog' | 'onStdout' | 'onStderr'>) => Promise<ChildPipe>

export function programLine(start: StartProgram): OpenLine {
  return async (onData) => {
    let stderr = ''
    const child = await start({
      inputBacklog: LIMITS.lsp.inputBacklog,
      onStdout: onData,
      onStderr(chunk) {
        stderr = (stderr + new TextDecoder().decode(chunk)).slice(-LIMITS.lsp.stderrTail)
      },
    })
    return {
      write: (data) => child.write(data),
      pause: () => child.pause(),
      resume: () => child.resume(),
      over: child.ended.then(({ exitCode, signal }) => {
        const how = exitCode === null ? `was ended by ${signal ?? 'a signal'}` : `has ended with code ${exitCode}`
        const said = stderr.trim()
        return `its program ${how}${said === '' ? '' : `: ${said}`}`
      }),
      gone: child.gone,
      end() {
        child.closeInput()
        child.kill()
      },
    }
  }
}

/** A server that runs already: it is left, not ended. */
export function socketLine(
  { network, clock }: Pick<NativeHost['effects'], 'network' | 'clock'>,
  { host, port, signal }: { readonly host: string; readonly port: number; readonly signal: AbortSignal },
): OpenLine {
  return async (onData) => {
    const limit = timeLimit(clock, LIMITS.lsp.connect, `nothing answers at ${host}:${port}`)
    try {
      const socket = await network.openSocket({
        host: host.replace(/^\[(.*)\]$/, '$1'),
        port,
        signal: AbortSignal.any([limit.signal, signal]),
        backlog: LIMITS.lsp.inputBacklog,
        onData,
      })
      return {
        write: (data) => socket.write(data),
        pause: () => socket.pause(),
        resume: () => socket.resume(),
        over: socket.closed,
        gone: socket.closed,
        end: () => socket.close(),
      }
    } finally {
      limit.clear()
    }
  }
}
