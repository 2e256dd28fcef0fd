/**
 * A plugin in this process behind the pipe of a program: frames are text on both ways, so that nothing of either side is reached from the
 * other (plugin-protocol §4).
 *
 * I1 Neither side is called by the other at once: each frame begins in a turn of its own, those of the plugin among its own work, those of
 *    the host outside of it.
 * I2 Frames that come before the plugin is there wait for it; what it sends after its end is dropped.
 * I3 Killing it ends everything that it was promised. Code that goes on is nobody's: none of its answers is heard.
 */
import { createRuntime, type PluginRuntime } from '../../published/kit/runtime.js'
import type { PluginClient } from '../../published/kit/host-types.js'
import type { NativeInstance } from './factory.js'
import type { ChildPipe } from '../../ports/child-pipe.js'

export interface NativePipeOptions {
  readonly inputBacklog: number
  onStdout(chunk: Uint8Array): void
  onStderr(chunk: Uint8Array): void
  /** Runs it later, among the work of the plugin, or outside of it (I1). */
  inside(work: () => void): void
  outside(work: () => void): void
  readonly client?: PluginClient
  /** Makes the plugin; what it rejects with is told by `onFailed`. */
  make(signal: AbortSignal): Promise<NativeInstance>
  onFailed(error: unknown): void
}

export interface NativePipe extends ChildPipe {
  /** Its instance has ended. */
  readonly isOver: boolean
}

type Ending = Awaited<ChildPipe['ended']>

export function createNativePipe(options: NativePipeOptions): NativePipe {
  const { inside, outside, client } = options
  const life = new AbortController()
  let runtime: PluginRuntime | undefined
  let waitingBytes = 0
  let isPaused = false
  let isClosed = false
  const frames: string[] = []
  const output: { readonly line: Buffer; taken(): void }[] = []
  const ended = deferred<Ending>()
  const gone = deferred<void>()

  const finish = (ending: Ending): void => {
    ended.resolve(ending)
    gone.resolve()
  }
  const take = (): void => {
    for (let frame = frames.shift(); frame !== undefined; frame = frames.shift()) {
      waitingBytes -= Buffer.byteLength(frame)
      runtime?.accept(JSON.parse(frame))
    }
    if (isClosed) runtime?.end()
  }
  const deliver = (): void => {
    if (isPaused) return
    for (const { line, taken } of output.splice(0)) {
      if (!life.signal.aborted) options.onStdout(line)
      taken()
    }
  }
  const retire = async (instance: NativeInstance): Promise<void> => {
    await instance.shutdown().catch(options.onFailed)
    outside(() => {
      isPaused = false
      deliver()
      life.abort(new Error('the plugin has ended'))
      finish({ exitCode: 0, signal: null })
    })
  }
  const begin = async (): Promise<void> => {
    const instance = await options.make(life.signal)
    if (life.signal.aborted) return void instance.shutdown().catch(options.onFailed)
    runtime = createRuntime(instance.plugin, {
      send: (line) =>
        new Promise<void>((taken) => {
          output.push({ line: Buffer.from(`${line}\n`), taken })
          outside(deliver)
        }),
      note: (text) => outside(() => options.onStderr(Buffer.from(`${text}\n`))),
      ...(client !== undefined && { client }),
      ended: () => void retire(instance),
    })
    life.signal.addEventListener('abort', () => inside(() => runtime?.end()), { once: true })
    take()
  }
  inside(() => void begin().catch(options.onFailed))

  return {
    pid: 0,
    write(data) {
      const frame = typeof data === 'string' ? data : Buffer.from(data).toString('utf8')
      const size = Buffer.byteLength(frame)
      if (isClosed || life.signal.aborted || waitingBytes + size > options.inputBacklog) return false
      waitingBytes += size
      frames.push(frame)
      if (runtime !== undefined) inside(take)
      return true
    },
    get waiting() {
      return waitingBytes
    },
    closeInput() {
      isClosed = true
      if (runtime !== undefined) inside(take)
    },
    pause: () => void (isPaused = true),
    resume() {
      isPaused = false
      outside(deliver)
    },
    ended: ended.promise,
    gone: gone.promise,
    kill() {
      if (life.signal.aborted) return
      life.abort(new Error('the plugin is to end'))
      finish({ exitCode: null, signal: 'SIGKILL' }) // I3
    },
    signal: () => false,
    residentBytes: () => undefined,
    get isOver() {
      return life.signal.aborted
    },
  }
}

function deferred<Value>(): { readonly promise: Promise<Value>; resolve(value: Value): void } {
  let resolve: (value: Value) => void = () => undefined
  const promise = new Promise<Value>((settle) => (resolve = settle))
  return { promise, resolve }
}
