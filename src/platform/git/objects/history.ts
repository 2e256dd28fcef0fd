/**
 * The first commit of a history: of all commits without parents that HEAD descends from, the one whose id sorts first.
 *
 * I1 The answer is git's: shallow clones, grafts and replaced commits count as they do there.
 * I2 Nothing is read through a link (`unlinked.ts`). What cannot be read within the limits rejects with a sentence, and is not tried again before its objects or grafts change; no git is started for it.
 */
import { join } from 'node:path'
import { LIMITS } from '../../../protocol/limits.js'
import { beginWork, ENTRY, type Reading, type Work } from '../../../kernel/work.js'
import { createLru } from '../../../kernel/lru.js'
import { type CommitGraph, readCommitGraph } from './commit-graph.js'
import { createCommits } from './objects.js'
import { readHead, readReplacements } from '../refs.js'
import { configOf, type Repository, textOf } from '../repository.js'
import { unlinked } from '../unlinked.js'

type Files = Parameters<typeof unlinked>[0]

export interface Histories {
  /** Undefined before the first commit. */
  first(repository: Repository): Promise<string | undefined>
}

const PER_PARENT = ENTRY
const ID_BYTES = { sha1: 20, sha256: 32 } as const
const ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

export function createHistories(following: Files): Histories {
  const files = unlinked(following)
  const known = createLru<string, Promise<string>>(LIMITS.git.histories)

  async function walk(repository: Repository, head: string, idBytes: number): Promise<string> {
    const work = beginWork(LIMITS.git.historyWork)
    const objects = join(repository.commonDirectory, 'objects')
    const grafts = await readGrafts(files, repository, work)
    const replacements = await readReplacements(files, repository, work)
    const isPlain = grafts.size === 0 && replacements.size === 0
    const graph = isPlain ? await readGraph(files, objects, idBytes).catch(() => undefined) : undefined
    const commits = createCommits(files, objects, idBytes, work)
    let first: string | undefined
    const seen = new Set([head])
    const inGraph: number[] = []
    for (const id of seen) {
      const position = graph?.position(id)
      if (position !== undefined) {
        inGraph.push(position)
        continue
      }
      const parents = grafts.get(id) ?? (await commits.parents(replacements.get(id) ?? id))
      if (parents.length === 0) first = lower(first, id)
      for (const parent of parents) seen.add(parent)
      await work.pay(parents.length * ENTRY)
      if (seen.size > LIMITS.git.commits) throw new Error(`it has more than ${LIMITS.git.commits} commits that no commit graph lists`)
    }
    if (graph !== undefined) first = lower(first, await work.read(firstIn(graph, inGraph)))
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

/** The one that sorts first. */
function lower(one: string | undefined, other: string | undefined): string | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return one < other ? one : other
}

function* firstIn(graph: CommitGraph, from: readonly number[]): Reading<string | undefined> {
  let first: string | undefined
  const seen = new Uint8Array(graph.count)
  const open: number[] = []
  const add = (position: number) => {
    if (seen[position] === 1) return
    seen[position] = 1
    open.push(position)
  }
  from.forEach(add)
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const parents = graph.parents(at)
    yield ENTRY + parents.length * PER_PARENT
    if (parents.length === 0) first = lower(first, graph.id(at))
    parents.forEach(add)
  }
  return first
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
async function readGrafts(files: Files, { commonDirectory }: Repository, work: Work): Promise<ReadonlyMap<string, readonly string[]>> {
  const grafts = new Map<string, readonly string[]>()
  for (const name of ['info/grafts', 'shallow']) {
    const text = (await textOf(files, join(commonDirectory, name), LIMITS.git.configBytes)) ?? ''
    await work.read(addGrafts(text, grafts))
  }
  return grafts
}

function* addGrafts(text: string, grafts: Map<string, readonly string[]>): Reading<void> {
  yield text.length
  for (const line of text.split('\n')) {
    yield line.length + ENTRY
    const [commit, ...parents] = line.trim().split(' ')
    if (commit === undefined || !ID.test(commit)) continue
    grafts.set(
      commit,
      parents.filter((parent) => ID.test(parent)),
    )
  }
}
