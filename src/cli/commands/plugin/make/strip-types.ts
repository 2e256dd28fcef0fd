/** TypeScript without its types, line by line where it was: what needs no compiler to be installed. Pure. */
import { transform } from 'sucrase'
import type { Files } from './template.js'

/** Modules below `src/`, by the names they are imported by. Throws what is wrong with one, with its line. */
export function stripped(sources: Files): Files {
  return Object.fromEntries(
    Object.entries(sources).flatMap(([path, text]) => {
      const name = /^src\/(.+)\.ts$/.exec(path)?.[1]
      return name === undefined || name.endsWith('.d') ? [] : [[`${name}.js`, strippedModule(path, text)]]
    }),
  )
}

function strippedModule(path: string, text: string): string {
  return transform(text, { transforms: ['typescript'], disableESTransforms: true, filePath: path }).code
}
