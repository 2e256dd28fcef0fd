/**
 * The place of a worker, before anything of it is started (subsystems d.9; threat-model T1).
 *
 * I1 What is said of it is taken word for word, or the start is refused; a message names the file and the member, never a value.
 * I2 Nothing that the worker believes, keeps or is configured by lies where its workspace could change it.
 */
import { closeSync, constants, fstatSync, mkdirSync, openSync, readSync, realpathSync, statSync } from 'node:fs'
import type { KeyObject } from 'node:crypto'
import { dirname, join, resolve } from 'node:path'
import { keyOfBytes } from '../../actors/tenancy/worker/worker-token.js'
import { nodePaths } from '../../platform/node/paths.js'
import { isWithin } from '../../protocol/caller.js'
import { SvcError } from '../../protocol/errors.js'
import { WorkerBootstrap } from '../../protocol/hosting/worker.js'
import { isSafeAddress } from '../../protocol/hosting/model-credential.js'
import type { ModelBroker } from '../../ports/model-broker.js'
import { isSendable } from '../../protocol/text/bearer.js'
import { LIMITS } from '../../protocol/limits.js'
import { messageOf } from '../../protocol/message-of.js'
import { whoElseMay } from '../../store/disk/state-directory.js'
import type { ServeOptions } from '../serve-options.js'

const SECOND = 1000
const { bootstrapBytes, keyBytes } = LIMITS.worker
const { bearerBytes } = LIMITS.modelBroker

export interface WorkerPlace {
  readonly bootstrap: WorkerBootstrap
  readonly key: KeyObject
  readonly models?: ModelBroker
}

/** Reads both files and goes to the root. Throws `config.invalid`. */
export function enterWorker(files: NonNullable<ServeOptions['worker']>, now = Date.now()): WorkerPlace {
  const said = readPrivately(files.bootstrap, bootstrapBytes)
  const verifier = readPrivately(files.verificationKey, keyBytes)
  const bootstrap = readBootstrap(said)
  const key = keyOfBytes(verifier.bytes)
  if (key === undefined) throw refused(verifier.path, `has to be an Ed25519 public key of exactly ${keyBytes} bytes`)
  if (bootstrap.expiresAt * SECOND <= now) throw refused(said.path, 'has expired')
  checkRoot(bootstrap.root, said.path)
  const lender = files.broker === undefined ? undefined : brokerOf(files.broker, bootstrap)
  for (const { path, real } of [said, verifier, ...(lender === undefined ? [] : [lender.file])])
    if (isWithin(bootstrap.root, real)) throw refused(path, 'lies within the root')
  checkOwnPlaces(bootstrap.root)
  process.chdir(bootstrap.root)
  return { bootstrap, key, ...(lender !== undefined && { models: lender.broker }) }
}

/** What the host gives may be taken away once it was read; where it lies there still, it may be another one by then. */
function brokerOf({ url, tokenFile }: { url: string; tokenFile: string }, worker: WorkerBootstrap): { broker: ModelBroker; file: Read } {
  if (!isSafeAddress(url)) throw refused(url, 'has to be an address of https, or of http on this machine, without a login or a query')
  const bearerIn = ({ path, bytes }: Read): string => {
    const text = bytes.toString('latin1').trim()
    if (!isSendable(text)) throw refused(path, 'has to hold visible characters of ASCII, without spaces')
    return text
  }
  const file = readPrivately(tokenFile, bearerBytes)
  let bearer = bearerIn(file)
  return {
    file,
    broker: {
      url: new URL(url),
      worker,
      bearer(anew) {
        try {
          if (anew !== undefined) bearer = bearerIn(readPrivately(file.path, bearerBytes))
        } catch {
          // The last good one counts.
        }
        return bearer
      },
    },
  }
}

interface Read {
  readonly path: string
  readonly real: string
  readonly bytes: Buffer
}

/** A regular file of at most `most` bytes, which is no link; nothing else is opened for long. */
function readPrivately(name: string, most: number): Read {
  const path = resolve(name)
  try {
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      if (!fstatSync(descriptor).isFile()) throw refused(path, 'is no regular file')
      const room = Buffer.alloc(most + 1)
      let length = 0
      for (let read = -1; read !== 0 && length < room.length; length += read)
        read = readSync(descriptor, room, length, room.length - length, null)
      if (length > most) throw refused(path, `has more than ${most} bytes`)
      return {
        path,
        real: join(realpathSync.native(dirname(path)), path.slice(path.lastIndexOf('/') + 1)),
        bytes: room.subarray(0, length),
      }
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    if (error instanceof SvcError) throw error
    throw refused(path, isLink(error) ? 'is a link' : `cannot be read: ${messageOf(error)}`)
  }
}

const isLink = (error: unknown) => error instanceof Error && 'code' in error && (error.code === 'ELOOP' || error.code === 'EMLINK')

function readBootstrap({ path, bytes }: Read): WorkerBootstrap {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw refused(path, 'is no JSON')
  }
  const read = WorkerBootstrap.safeParse(value)
  if (read.success) return read.data
  const [issue] = read.error.issues
  const member = issue?.code === 'unrecognized_keys' ? issue.keys.join(', ') : (issue?.path.join('.') ?? '')
  throw refused(
    path,
    `${member === '' ? 'it' : `"${member}"`} ${issue?.code === 'custom' || issue?.code === 'invalid_format' ? issue.message : 'is not what a bootstrap has'}`,
  )
}

/** An existing directory, by its only name. */
function checkRoot(root: string, bootstrap: string): void {
  let real: string | undefined
  try {
    real = statSync(root).isDirectory() ? realpathSync.native(root) : undefined
  } catch {
    real = undefined
  }
  if (real === undefined) throw refused(bootstrap, 'names a root that is no directory')
  if (real !== root) throw refused(bootstrap, 'names a root that is another name of a directory')
}

/** I2 */
function checkOwnPlaces(root: string): void {
  const { state, config, cache } = nodePaths(process.env)
  const credentials = process.env['SVC_AGENT_AUTH_PATH']
  const places = [state, config, cache, ...(credentials ? [resolve(credentials)] : [])]
  for (const place of places) if (isWithin(root, realOf(place))) throw refused(place, 'lies within the root of the worker')
  try {
    mkdirSync(state, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw refused(state, `cannot be made: ${messageOf(error)}`)
  }
  const mode = whoElseMay(state)
  if (mode !== undefined) throw refused(state, `can be looked into by other users (its mode is ${mode}, and has to be 0700)`)
}

/** By its only name, as far as it is there. */
function realOf(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(realOf(parent), path.slice(parent === '/' ? 1 : parent.length + 1))
  }
}

function refused(path: string, reason: string): SvcError {
  return new SvcError('config.invalid', `A worker cannot be started: ${path} ${reason}.`, { path })
}
