/** The commit graph of a repository as bytes, in one file or a chain of them: which commits have which parents. Pure. */
import { LIMITS } from '../../../protocol/limits.js'
import { positionOf } from './id-table.js'
const SIGNATURE = 0x43475048 // CGPH
const HEADER = 8
const FANOUT_BYTES = 1024
const NONE = 0x7000_0000
const MORE = 0x8000_0000
/** Parents of one commit: as many as an object that is read may name. */
const MOST_PARENTS = Math.floor(LIMITS.git.objectBytes / 48)

export interface CommitGraph {
  readonly count: number
  position(id: string): number | undefined
  id(position: number): string
  parents(position: number): readonly number[]
}

interface Layer {
  readonly data: Buffer
  readonly fanout: number
  readonly names: number
  readonly commits: number
  readonly edges: readonly [start: number, end: number]
  readonly count: number
  /** Positions of the layers below. */
  readonly before: number
}

/** `files` from the base upwards. Throws a sentence for what is not whole. */
export function readCommitGraph(files: readonly Uint8Array[], idBytes: number): CommitGraph {
  const layers: Layer[] = []
  let count = 0
  for (const bytes of files) {
    const layer = readLayer(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), idBytes, count)
    layers.push(layer)
    count += layer.count
  }
  const rowBytes = idBytes + 16

  function layerOf(position: number): Layer {
    const layer = layers.findLast(({ before }) => before <= position)
    if (layer === undefined || position >= count) throw damaged()
    return layer
  }

  return {
    count,
    position(id) {
      const wanted = Buffer.from(id, 'hex')
      for (const layer of layers) {
        const found = positionOf(layer, wanted, idBytes)
        if (found !== undefined) return layer.before + found
      }
      return undefined
    },
    id(position) {
      const { data, names, before } = layerOf(position)
      const at = names + (position - before) * idBytes
      return data.toString('hex', at, at + idBytes)
    },
    parents(position) {
      const { data, commits, before, edges } = layerOf(position)
      const at = commits + (position - before) * rowBytes + idBytes
      const first = data.readUInt32BE(at)
      const second = data.readUInt32BE(at + 4)
      if (first === NONE) return []
      if (second === NONE) return [first]
      if (second < MORE) return [first, second]
      const parents = [first]
      for (let edge = edges[0] + (second - MORE) * 4; ; edge += 4) {
        if (edge + 4 > edges[1] || parents.length > MOST_PARENTS) throw damaged()
        const parent = data.readUInt32BE(edge)
        parents.push(parent % MORE)
        if (parent >= MORE) return parents
      }
    },
  }
}

function readLayer(data: Buffer, idBytes: number, before: number): Layer {
  if (data.length < HEADER || data.readUInt32BE(0) !== SIGNATURE || data[4] !== 1) throw damaged()
  const chunks = new Map<string, readonly [start: number, end: number]>()
  const entries = data[6] ?? 0
  for (let index = 0; index < entries; index++) {
    const at = HEADER + index * 12
    if (at + 24 > data.length) throw damaged()
    const [start, end] = [Number(data.readBigUInt64BE(at + 4)), Number(data.readBigUInt64BE(at + 16))]
    if (start > end || end > data.length) throw damaged()
    chunks.set(data.toString('latin1', at, at + 4), [start, end])
  }
  const [fanout, fanoutEnd] = chunks.get('OIDF') ?? [0, 0]
  const [names, namesEnd] = chunks.get('OIDL') ?? [0, 0]
  const [commits, commitsEnd] = chunks.get('CDAT') ?? [0, 0]
  if (fanoutEnd - fanout < FANOUT_BYTES) throw damaged()
  const count = data.readUInt32BE(fanout + FANOUT_BYTES - 4)
  if (namesEnd - names < count * idBytes || commitsEnd - commits < count * (idBytes + 16)) throw damaged()
  return { data, fanout, names, commits, count, before, edges: chunks.get('EDGE') ?? [0, 0] }
}

function damaged(): Error {
  return new Error('its commit graph is damaged')
}
