/**
 * Code of packages in the process of the server (decision 45): loaded, run apart from the work of the server, and told from it when it fails.
 * A CommonJS file of its own, because the program itself cannot import what it does not know. Nothing of this is there before the first
 * package is loaded.
 *
 * I1 What a package does, and whatever comes of it later, is its own work: that is known of every callback, and its output goes to its log.
 * I2 An error that nobody catches ends the package that it is of, and not the server: where the stack tells that it passed through the server
 *    as well, or that it is of no package, the process ends, as it would without packages, and says which package it was.
 * I3 Of an instance that has ended one failure is told: nobody can end its timers.
 * I4 A folder is loaded once; what it imports is a module of Node or a file of the folder.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { writeSync } from 'node:fs'
import { register } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import type { PluginClient } from '../../published/kit/host-types.js'
import type { NativeCode, NativeOptions } from '../../ports/native-code.js'
import { faultText, type Place, traceOf } from './faults.js'
import { instanceOf } from './factory.js'
import { createNativePipe, type NativePipe } from './native-pipe.js'

interface Instance extends Pick<NativeOptions, 'pluginId' | 'folder' | 'onStderr' | 'onFault' | 'onFatal'> {
  readonly pipe: () => NativePipe | undefined
}

/** Deep enough to see what an error passed through. */
const FRAMES = 60

const current = new AsyncLocalStorage<Instance>()
/** The last instance of each folder that was ever loaded: its code stays in memory. */
const loaded = new Map<string, Instance>()
const toldLate = new WeakSet<Instance>()

export const open: NativeCode['open'] = (options) => {
  if (loaded.size === 0) watchProcess()
  const { pluginId, instanceId, folder } = options
  const instance: Instance = { ...pick(options), pipe: () => pipe }
  loaded.set(folder, instance)
  const client = clientOf(options.serverUrl)
  const pipe = createNativePipe({
    ...options,
    ...(client !== undefined && { client }),
    inside: (work) => void current.run(instance, () => setImmediate(work)),
    outside: (work) => void current.exit(() => setImmediate(work)),
    async make(signal) {
      const exported = (await import(pathToFileURL(join(folder, options.entrypoint)).href)) as Readonly<Record<string, unknown>>
      return instanceOf(exported, { pluginId, instanceId, signal })
    },
    onFailed: (error) => tell(instance, faultText(error, traceOf(error, [folder], []).place)),
  })
  return pipe
}

function pick({ pluginId, folder, onStderr, onFault, onFatal }: NativeOptions): Omit<Instance, 'pipe'> {
  return { pluginId, folder, onStderr, onFault, onFatal }
}

/** I3 */
function tell(instance: Instance, reason: string): void {
  const isOver = instance.pipe()?.isOver === true
  if (isOver && toldLate.has(instance)) return
  if (isOver) toldLate.add(instance)
  current.exit(() => instance.onFault(reason))
}

function watchProcess(): void {
  register(pathToFileURL(join(__dirname, 'native-hooks.js')))
  Error.stackTraceLimit = Math.max(Error.stackTraceLimit, FRAMES)
  process.on('uncaughtException', (error) => caught(error, 'It threw outside of any call'))
  process.on('unhandledRejection', (reason) => caught(reason, 'It left a promise rejected'))
  process.on('exit', () => {
    const { place } = traceOf(new Error('exit'), [...loaded.keys()], [])
    const culprit = place && loaded.get(place.folder)
    if (culprit !== undefined) writeSync(2, `svc: the native plugin ${culprit.pluginId} has ended the process (${place?.at})\n`)
  })
  for (const stream of [process.stdout, process.stderr]) routeOutput(stream)
}

/** I2 */
function caught(error: unknown, how: string): void {
  const { place, isThroughServer } = traceOf(error, [...loaded.keys()], [__filename])
  const culprit = culpritOf(place)
  if (culprit === undefined) {
    writeSync(2, `${inspect(error)}\n`)
    process.exit(1)
  }
  const reason = `${how}: ${faultText(error, place)}`
  if (!isThroughServer) return tell(culprit, reason)
  writeSync(2, `svc: the native plugin ${culprit.pluginId} has broken the server, which ends. ${reason}\n${inspect(error)}\n`)
  try {
    current.exit(() => culprit.onFatal(reason))
  } finally {
    process.exit(1) // what is broken may be what would tell it
  }
}

/** The stack names the package; which of its instances it is, whose work it was. */
function culpritOf(place: Place | undefined): Instance | undefined {
  const working = current.getStore()
  if (place === undefined || working?.folder === place.folder) return working
  return loaded.get(place.folder)
}

/** I1 */
function routeOutput(stream: NodeJS.WriteStream): void {
  const write = stream.write.bind(stream) as (...args: readonly unknown[]) => boolean
  const isCall = (value: unknown): value is () => void => typeof value === 'function'
  stream.write = (chunk: unknown, ...rest: readonly unknown[]): boolean => {
    const instance = current.getStore()
    if (instance === undefined) return write(chunk, ...rest)
    const done = rest.find(isCall)
    if (instance.pipe()?.isOver === false) current.exit(() => instance.onStderr(Buffer.from(chunk as Uint8Array)))
    if (done !== undefined) process.nextTick(done)
    return true
  }
}

/** The HTTP API of this server, without credentials. */
function clientOf(url: string | undefined): PluginClient | undefined {
  return url === undefined || !URL.canParse(url) ? undefined : { url, fetch: (path, init) => fetch(new URL(path, url), init) }
}
