import { readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import * as z from 'zod'
import { PATIENCE } from './test/fakes/patience.js'

const { version } = z.object({ version: z.string() }).parse(JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')))

const PROGRAM = [
  'test/e2e/**/*.test.ts',
  'test/campaigns/{attacks,crashes,delegation-kills,floods,goal-kills,request-bodies,workflow-kills}/*.test.ts',
  'test/cli/program-*.test.ts',
  'examples/**/*.test.ts',
]
const NODES = ['test/nodes/**/*.test.ts']
/** Runs as a whole only: it fetches the suite and another Node. */
const CONFORMANCE = 'test/campaigns/mcp-conformance/*.test.ts'
const isWhole = process.env['SVC_CAMPAIGN'] === 'whole'

/** Fetches other Nodes and a fresh install from the registry, so it runs only where `SVC_TEST_NODES` asks for it, as CI does. */
const nodes = {
  extends: true as const,
  test: {
    name: 'nodes',
    include: NODES,
    globalSetup: ['scripts/build-for-tests.mjs'],
    maxWorkers: 1,
    sequence: { groupOrder: 2 },
  },
}

export default defineConfig({
  define: { SVC_VERSION: JSON.stringify(version) },
  test: {
    setupFiles: ['test/no-warnings.ts'],
    // Only what hangs ends by these: a machine may be busy.
    testTimeout: 3 * PATIENCE,
    hookTimeout: 3 * PATIENCE,
    expect: { poll: { timeout: PATIENCE } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...PROGRAM, ...NODES, CONFORMANCE],
          // More than this machine is likely to have cores: some wait for processes.
          maxWorkers: 3,
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      // Drives dist/main.js and the libraries beside it, built once before the first of these tests.
      {
        extends: true,
        test: {
          name: 'program',
          include: isWhole ? [...PROGRAM, CONFORMANCE] : PROGRAM,
          globalSetup: ['scripts/build-for-tests.mjs'],
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      ...(process.env['SVC_TEST_NODES'] === undefined ? [] : [nodes]),
    ],
  },
})
