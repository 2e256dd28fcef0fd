/**
 * Bundles the sandbox program of Lua plugins: `lua-sandbox.js`, and the thread it starts, `lua-sandbox-thread.cjs`, which loads the VM,
 * `lua-sandbox-vm.cjs`, from what was compiled ahead where it can. They need nothing else. Of the Lua VM only the language and the listed libraries go in: what would read files, run programs or load modules is
 * replaced by nothing, and so is `process`, so that no script can reach it through a mistake.
 */
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { NOTED } from './bundled-packages.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const sources = join(root, 'src/programs/sandbox')

/** What stands in for modules of the VM; `lualib` gathers every library there is, and is only asked for its assertion. */
const REPLACED = {
  'lualib.js': 'exports.lua_assert = () => {}',
  'linit.js': '',
  'fengarilib.js': '',
  'ldblib.js': '',
  'liolib.js': '',
  'loadlib.js': '',
  'loslib.js': '',
}

/** Exact changes to the VM; a text that is not found fails the build. */
const CHANGED = {
  // An exception inside a Lua function found no room to become an error of the script.
  'ldo.js': [
    ['lapi.lua_pushcfunction(L, atnativeerror);', 'L.ci.top = Math.max(L.ci.top, L.top + 4); lapi.lua_pushcfunction(L, atnativeerror);'],
  ],
  // A coroutine that caught an error went on without its count hook, and so without budgets.
  'lapi.js': [
    [
      'ci.callstatus &= ~lstate.CIST_OAH | L.allowhook;',
      'ci.callstatus = (ci.callstatus & ~lstate.CIST_OAH) | (L.allowhook ? lstate.CIST_OAH : 0);',
    ],
  ],
  // Stacks of threads may grow to a million slots: recursion without end would meet the memory of the sandbox first, and end it.
  'luaconf.js': [['(process.env.FENGARICONF ? JSON.parse(process.env.FENGARICONF) : {})', '{ LUAI_MAXSTACK: 60000 }']],
  // The key of a string in a table took a hundred times the memory of the string, and two strings could share one.
  'lstring.js': [
    [
      'let len = str.length;\n    let s = "|";\n    for (let i=0; i<len; i++)\n        s += str[i].toString(16);\n    return s;',
      'return hashOfBytes(str);',
    ],
  ],
}

const vmInABox = {
  name: 'vm-in-a-box',
  setup(esbuild) {
    esbuild.onLoad({ filter: /[\\/]fengari[\\/]src[\\/]\w+\.js$/ }, async ({ path }) => {
      const name = basename(path)
      if (name in REPLACED) return { contents: REPLACED[name], loader: 'js' }
      let text = await readFile(path, 'utf8')
      for (const [before, after] of CHANGED[name] ?? []) {
        if (!text.includes(before)) throw new Error(`${path} is not what the sandbox was made for: ${before}`)
        text = text.replace(before, after)
      }
      const bytes = JSON.stringify(join(sources, 'lua/lua-bytes.ts'))
      return {
        contents: `const process = undefined; const { LuaBytes: Uint8Array, hashOfBytes } = require(${bytes});\n${text}`,
        loader: 'js',
      }
    })
  },
}

const shared = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  sourcemap: 'linked',
  sourcesContent: false,
  minify: true,
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
  plugins: [NOTED],
}

/** Builds the files into `outdir`; answers their paths, those of their maps too, relative to the repository. */
export async function buildLuaSandbox(outdir = 'dist') {
  const results = await Promise.all([
    build({ ...shared, outdir, entryPoints: { 'lua-sandbox': join(sources, 'node-program.ts') }, format: 'esm' }),
    build({
      ...shared,
      outdir,
      entryPoints: { 'lua-sandbox-thread': join(sources, 'node-thread-entry.ts'), 'lua-sandbox-vm': join(sources, 'node-vm-thread.ts') },
      format: 'cjs',
      outExtension: { '.js': '.cjs' },
      plugins: [NOTED, vmInABox],
    }),
  ])
  return results.flatMap(({ metafile }) => Object.keys(metafile.outputs))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildLuaSandbox(process.argv[2])
