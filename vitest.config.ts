import { existsSync, readFileSync, statfsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import * as z from 'zod'
import { PATIENCE } from './test/fakes/patience.js'

const { version, publishedName } = z
  .object({ version: z.string(), publishedName: z.string() })
  .parse(JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')))

const PROGRAM = [
  'test/e2e/**/*.test.ts',
  'test/campaigns/{attacks,crashes,delegation-kills,editor-kills,floods,goal-kills,keeping-kills,power-loss,request-bodies,workflow-kills}/*.test.ts',
  'test/cli/program-*.test.ts',
  'examples/**/*.test.ts',
]
const NODES = ['test/nodes/**/*.test.ts']
/** Run as a whole only: they fetch the suite and other Nodes, and whole systems. */
const FETCHING = ['test/campaigns/mcp-conformance/*.test.ts', 'test/campaigns/bare-machines/*.test.ts']
const isWhole = process.env['SVC_CAMPAIGN'] === 'whole'

/** Fetches other Nodes and a fresh install from the registry, so it runs only where `SVC_TEST_NODES` asks for it, as CI does. */
const nodes = {
  extends: true as const,
  test: {
    name: 'nodes',
    include: NODES,
    globalSetup: ['scripts/build-for-tests.mjs'],
  },
}

const IN_MEMORY = '/dev/shm'
/** Bytes: many times what the files of all workers have at a time. */
const ROOM = 4 * 2 ** 30

/**
 * Half of what the kernel does for the tests of sources is files on a disk: they have them in memory where that is to be had, with room, programs may be
 * run there, and nobody has named another place. Those that drive programs do not: inside a sandbox there is another `/dev`.
 */
function placeInMemory(): Record<string, string> {
  if (process.env['TMPDIR'] !== undefined || !existsSync('/proc/mounts')) return {}
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n')
  const [, , type, options = ''] = mounts.find((line) => line.split(' ')[1] === IN_MEMORY)?.split(' ') ?? []
  if (type !== 'tmpfs' || options.split(',').some((option) => option === 'ro' || option === 'noexec')) return {}
  const { bavail, bsize } = statfsSync(IN_MEMORY)
  return bavail * bsize > ROOM ? { SVC_TEST_TEMPORARY: IN_MEMORY } : {}
}

/** What takes longest begins first; those after it share their workers as long as they follow each other. */
class ProgramFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await BaseSequencer.prototype.sort.call(this, files)
    const rank = ({ project }: TestSpecification) => ['nodes', 'program', 'unit'].indexOf(project.name)
    return sorted.toSorted((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  define: { SVC_VERSION: JSON.stringify(version), SVC_PUBLISHED_NAME: JSON.stringify(publishedName) },
  test: {
    setupFiles: ['test/no-warnings.ts', 'test/costs.ts', 'test/temporary.ts'],
    // Only what hangs ends by these: a machine may be busy.
    testTimeout: 3 * PATIENCE,
    hookTimeout: 3 * PATIENCE,
    expect: { poll: { timeout: PATIENCE } },
    // One pool for all projects. Many tests wait for processes: more workers than the cores of a small machine are busy. With six of them what is installed from a registry takes too long.
    maxWorkers: Number(process.env['SVC_TEST_WORKERS'] ?? Math.max(4, availableParallelism())),
    sequence: { sequencer: ProgramFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...PROGRAM, ...NODES, ...FETCHING],
          isolate: false,
          env: placeInMemory(),
        },
      },
      // Drives dist/main.js and the libraries beside it, built once before the first of these tests.
      {
        extends: true,
        test: {
          name: 'program',
          include: isWhole ? [...PROGRAM, ...FETCHING] : PROGRAM,
          globalSetup: ['scripts/build-for-tests.mjs'],
          isolate: false,
        },
      },
      ...(process.env['SVC_TEST_NODES'] === undefined ? [] : [nodes]),
    ],
  },
})
