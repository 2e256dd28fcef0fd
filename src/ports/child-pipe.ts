/** A long-lived program that talks over its standard streams: a plugin, a language server, an MCP server. */
import type { GroupSignal, Placeholder } from './process-facts.js'

export interface PipeOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  /** The whole environment of the child: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>
  /** As for `SpawnOptions`. */
  readonly holds?: readonly Placeholder[]
  /**
   * It is a sandbox around the program, in whose group the program is: signals are for the program alone, and when that ends by one it was
   * sent, so has the child.
   */
  readonly isSandbox?: boolean
  /** Bytes of input that may wait for a child that does not read. */
  readonly inputBacklog: number
  onStdout(chunk: Uint8Array): void
  onStderr(chunk: Uint8Array): void
}

export interface ChildPipe {
  readonly pid: number
  /** Queues input; false, with nothing queued, when the backlog would be exceeded or the input is closed. Bytes are taken as they are, without a copy. */
  write(data: string | Uint8Array): boolean
  /** Bytes of input that the child has not read yet. */
  readonly waiting: number
  closeInput(): void
  /** Stops reading the output until `resume`, so that the child has to wait. What its pipes hold at its end is delivered all the same. */
  pause(): void
  resume(): void
  /** The output has ended, or the child itself; what came before was delivered. Never rejects. */
  readonly ended: Promise<{ readonly exitCode: number | null; readonly signal: string | null }>
  /** The whole group is gone, and what left it. Never rejects. */
  readonly gone: Promise<void>
  /** SIGKILL to the whole group, now. */
  kill(): void
  /** Sends a signal to the whole group; false = it is gone. */
  signal(name: GroupSignal): boolean
  /** Resident bytes of the child and of what it started, as far as it can be followed; undefined when unknown. */
  residentBytes(): number | undefined
}
