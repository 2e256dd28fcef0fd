/**
 * What native code may import: modules of Node, and files of its own folder, which are the content that was approved. Node would look for
 * packages in every folder above as well. Runs in the thread of Node's module hooks.
 */
import type { ResolveHook } from 'node:module'

/** The folder of a copy, as the store of packages names it. */
const COPY = /^file:\/\/.*\/[0-9a-f]{64}\/content\//

export const resolve: ResolveHook = async (specifier, context, next) => {
  const found = await next(specifier, context)
  const [folder] = COPY.exec(context.parentURL ?? '') ?? []
  if (folder === undefined || found.url.startsWith('node:') || found.url.startsWith(folder)) return found
  throw new Error(`"${specifier}" is not in the package: native code imports modules of Node and files of its own package`)
}
