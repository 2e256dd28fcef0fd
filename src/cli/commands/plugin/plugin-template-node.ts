/** Packages that Node runs: plain JavaScript, or JavaScript that TypeScript sources beside the package are compiled to. */
import type { Scope } from './plugin-arguments.js'
import { manifestFile, shortName, TOOL_DESCRIPTION, toolName } from './plugin-template.js'

type Files = Readonly<Record<string, string>>

/** The package: `plugin.js` is the plugin, `main.js` runs it, `svc-plugin.js` is the library. */
export function javascriptPackage(id: string, scope: Scope, library: { readonly code: string }): Files {
  return {
    ...manifestFile(id, { runtime: 'process', command: ['node', 'main.js'], scope }),
    'package.json': `${JSON.stringify({ type: 'module' })}\n`,
    'plugin.js': pluginModule(id, ''),
    'main.js': MAIN,
    'svc-plugin.js': library.code,
  }
}

/** The sources of a package of the same id: `npm run build` writes `plugin.js` and `main.js` into it. */
export function typescriptSources(id: string, library: { readonly declarations: string }): Files {
  const built = `../../plugins/${id}`
  return {
    'package.json': json({
      name: id,
      private: true,
      type: 'module',
      scripts: { build: 'tsc', test: 'npm run build && node --test test/plugin.test.mjs' },
      devDependencies: { '@types/node': '>=20', typescript: '>=5.4' },
    }),
    'tsconfig.json': json({
      compilerOptions: {
        target: 'es2022',
        module: 'nodenext',
        moduleResolution: 'nodenext',
        lib: ['es2023', 'dom'],
        types: ['node'],
        strict: true,
        rootDir: 'src',
        outDir: built,
        noEmitOnError: true,
      },
      include: ['src'],
    }),
    'src/plugin.ts': pluginModule(id, ': { name: string }'),
    'src/main.ts': MAIN,
    'src/svc-plugin.d.ts': library.declarations,
    'test/plugin.test.mjs': testModule(`../${built}`, toolName(id)),
  }
}

const MAIN = `import { plugin } from './plugin.js'
import { runPlugin } from './svc-plugin.js'

await runPlugin(plugin)
`

function pluginModule(id: string, inputType: string): string {
  return `import { definePlugin } from './svc-plugin.js'

export const plugin = definePlugin({
  name: '${shortName(id)}',
  version: '0.1.0',
  tools: [
    {
      id: '${toolName(id)}',
      description: '${TOOL_DESCRIPTION}',
      parameters: {
        type: 'object',
        properties: { name: { type: 'string', description: 'Who is greeted' } },
        required: ['name'],
      },
      execute(input${inputType}) {
        return { title: \`${toolName(id)} \${input.name}\`, output: \`Hello, \${input.name}!\` }
      },
    },
  ],
})
`
}

function testModule(built: string, tool: string): string {
  return `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plugin } from '${built}/plugin.js'
import { createTestHost } from '${built}/svc-plugin.js'

test('greets by name', async () => {
  const host = await createTestHost(plugin)
  assert.deepEqual(await host.callTool('${tool}', { name: 'Ada' }), { title: '${tool} Ada', output: 'Hello, Ada!' })
  await host.shutdown()
})
`
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
