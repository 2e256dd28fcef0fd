/**
 * The first commit of a history: of all commits without parents that HEAD descends from, the one whose id sorts first.
 *
 * I1 The answer is git's: shallow clones, grafts and replaced commits count as they do there.
 * I2 Nothing is read through a link (`unlinked.ts`). What cannot be read within the limits rejects with a sentence, and is not tried again before its objects or grafts change; no git is started for it.
 */
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { LIMITS } from '../../protocol/limits.js'
import { createLru } from '../../protocol/lru.js'
import { type CommitGraph, readCommitGraph } from './commit-graph.js'
import { createCommits } from './objects.js'
import { readHead, readReplacements } from './refs.js'
import { configOf, type Repository, textOf } from './repository.js'
import { unlinked } from './unlinked.js'

type Files = Parameters<typeof unlinked>[0]

export interface Histories {
  /** Undefined before the first commit. */
  first(repository: Repository): Promise<string | undefined>
}

const ID_BYTES = { sha1: 20, sha256: 32 } as const
const ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
const SLICE = 16_384

export function createHistories(following: Files): Histories {
  const files = unlinked(following)
  const known = createLru<string, Promise<string>>(LIMITS.git.histories)

  async function walk(repository: Repository, head: string, idBytes: number): Promise<string> {
    const objects = join(repository.commonDirectory, 'objects')
    const grafts = await readGrafts(files, repository)
    const replacements = await readReplacements(files, repository)
    const isPlain = grafts.size === 0 && replacements.size === 0
    const graph = isPlain ? await readGraph(files, objects, idBytes).catch(() => undefined) : undefined
    const commits = createCommits(files, objects, idBytes)
    const roots: string[] = []
    const seen = new Set([head])
    const inGraph: number[] = []
    for (const id of seen) {
      const position = graph?.position(id)
      if (position !== undefined) {
        inGraph.push(position)
        continue
      }
      const parents = grafts.get(id) ?? (await commits.parents(replacements.get(id) ?? id))
      if (parents.length === 0) roots.push(id)
      for (const parent of parents) seen.add(parent)
    }
    if (graph !== undefined) roots.push(...(await rootsIn(graph, inGraph)))
    const first = roots.toSorted()[0]
    if (first === undefined) throw new Error('its history has no beginning')
    return first
  }

  /** Changes with what may give the same head another beginning. */
  const stampOf = async ({ commonDirectory }: Repository, name: string) => (await files.stat(join(commonDirectory, name)))?.identity ?? ''

  return {
    async first(repository) {
      const { commit } = await readHead(files, repository)
      if (commit === undefined) return undefined
      const stamps = ['shallow', 'info/grafts', 'refs/replace', 'packed-refs', 'objects/pack'].map((name) => stampOf(repository, name))
      const key = [commit, repository.commonDirectory, ...(await Promise.all(stamps))].join('\n')
      const before = known.get(key)
      if (before !== undefined) return before
      const { format } = await configOf(files, repository)
      const finding = walk(repository, commit, ID_BYTES[format])
      known.set(key, finding)
      return finding
    },
  }
}

async function rootsIn(graph: CommitGraph, from: readonly number[]): Promise<string[]> {
  const roots: string[] = []
  const seen = new Uint8Array(graph.count)
  const open = [...from]
  for (const position of open) seen[position] = 1
  for (let walked = 1, at = open.pop(); at !== undefined; at = open.pop(), walked++) {
    if (walked % SLICE === 0) await setImmediate()
    const parents = graph.parents(at)
    if (parents.length === 0) roots.push(graph.id(at))
    for (const parent of parents) {
      if (seen[parent] === 1) continue
      seen[parent] = 1
      open.push(parent)
    }
  }
  return roots
}

async function readGraph(files: Files, objects: string, idBytes: number): Promise<CommitGraph | undefined> {
  const info = join(objects, 'info')
  const single = join(info, 'commit-graph')
  if ((await files.stat(single)) !== undefined) return readCommitGraph([await files.read(single, LIMITS.git.packIndexBytes)], idBytes)
  const chain = await textOf(files, join(info, 'commit-graphs', 'commit-graph-chain'), LIMITS.git.pointerBytes)
  if (chain === undefined) return undefined
  const layers: Uint8Array[] = []
  let left: number = LIMITS.git.packIndexBytes
  for (const name of chain.split('\n').filter((line) => ID.test(line))) {
    const layer = await files.read(join(info, 'commit-graphs', `graph-${name}.graph`), left)
    left -= layer.length
    layers.push(layer)
  }
  return readCommitGraph(layers, idBytes)
}

/** Commits whose parents are said elsewhere: none where a shallow clone ends, others for a graft. */
async function readGrafts(files: Files, { commonDirectory }: Repository): Promise<ReadonlyMap<string, readonly string[]>> {
  const grafts = new Map<string, readonly string[]>()
  for (const name of ['info/grafts', 'shallow']) {
    const text = (await textOf(files, join(commonDirectory, name), LIMITS.git.configBytes)) ?? ''
    for (const line of text.split('\n')) {
      const [commit, ...parents] = line.trim().split(' ')
      if (commit !== undefined && ID.test(commit))
        grafts.set(
          commit,
          parents.filter((parent) => ID.test(parent)),
        )
    }
  }
  return grafts
}
