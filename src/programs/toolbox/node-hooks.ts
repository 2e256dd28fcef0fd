/**
 * How Node finds and reads the modules of a directory of tools: TypeScript without its types, names without endings, and `svc/plugin`, by the name of the
 * published package too.
 * Runs in the thread of Node's module hooks, which exist from Node 20.6 on.
 */
import { readFile } from 'node:fs/promises'
import type { LoadHook, ResolveHook } from 'node:module'
import { fileURLToPath } from 'node:url'
import { type Options, transform } from 'sucrase'

/** What svc is called where it is published; set by the build. */
declare const SVC_PUBLISHED_NAME: string

const LIBRARY = new Set(['svc/plugin', `${SVC_PUBLISHED_NAME}/plugin`])
const TYPESCRIPT = /\.([cm]?)ts$/
/** What a name may lack, and what TypeScript calls by the name of what would be made of it. */
const ENDINGS = ['.ts', '.js', '/index.ts', '/index.js'] as const

export const resolve: ResolveHook = async (specifier, context, next) => {
  if (LIBRARY.has(specifier)) return { url: new URL('plugin.js', import.meta.url).href, shortCircuit: true }
  try {
    return await next(specifier, context)
  } catch (error) {
    if (!specifier.startsWith('.')) throw error
    for (const name of [specifier.replace(/\.([cm]?)js$/, '.$1ts'), ...ENDINGS.map((ending) => `${specifier}${ending}`)]) {
      try {
        return await next(name, context)
      } catch {} // the next may be there
    }
    throw error
  }
}

/** `.ts` and `.mts` are modules, `.cts` is CommonJS. Lines stay where they are. */
export const load: LoadHook = async (url, context, next) => {
  const kind = TYPESCRIPT.exec(new URL(url).pathname)?.[1]
  if (kind === undefined || !url.startsWith('file:')) return next(url, context)
  const file = fileURLToPath(url)
  const isCommon = kind === 'c'
  const transforms: Options['transforms'] = isCommon ? ['typescript', 'imports'] : ['typescript']
  const { code } = transform(await readFile(file, 'utf8'), { transforms, disableESTransforms: true, filePath: file })
  return { format: isCommon ? 'commonjs' : 'module', source: code, shortCircuit: true }
}
