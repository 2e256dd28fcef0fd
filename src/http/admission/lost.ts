/** What is said of a request that no operation takes: which methods there are, or which path was probably meant. */
import { API } from '../../protocol/api.js'
import { SvcError } from '../../protocol/errors.js'
import { nearest } from '../../protocol/text/nearest.js'

const PATHS = [...new Set(API.map(({ path }) => path))]
/** A parameter takes any one segment. */
const SHAPES = PATHS.map((path) => ({ path, segments: path.split('/') }))
/** Segments that are looked at: no operation has as many. */
const MOST = Math.max(...SHAPES.map(({ segments }) => segments.length)) + 1
const LONGEST = 256

export function notFound(method: string, path: string): SvcError {
  if (!path.startsWith('/v2/')) return new SvcError('resource.not_found', 'There is no such operation: every path begins with /v2/.')
  const segments = path.split('/', MOST)
  const known = new Set(SHAPES.filter((shape) => fits(shape.segments, segments)).map((shape) => shape.path))
  if (known.size > 0) {
    const methods = [...new Set(API.filter((contract) => known.has(contract.path)).map((contract) => contract.method))]
    return new SvcError('resource.not_found', `There is no such operation: ${method} is none of this path, but ${methods.join(', ')}.`, {
      methods,
    })
  }
  const meant = path.length > LONGEST ? undefined : meantBy(segments)
  return new SvcError('resource.not_found', `There is no such operation.${meant === undefined ? '' : ` Did you mean ${meant}?`}`)
}

function fits(shape: readonly string[], segments: readonly string[]): boolean {
  return (
    shape.length === segments.length &&
    shape.every((part, index) => part === segments[index] || (isParameter(part) && segments[index] !== ''))
  )
}

/** The path of which one segment only was written otherwise. */
function meantBy(segments: readonly string[]): string | undefined {
  for (const [at, typed] of segments.entries()) {
    const alike = SHAPES.filter(({ segments: shape }) => shape.length === segments.length && fits(shape.with(at, typed), segments))
    const names = alike.flatMap(({ segments: shape }) => shape[at] ?? []).filter((name) => name !== '' && !isParameter(name))
    const name = nearest(typed, names)
    if (name !== undefined) return segments.with(at, name).join('/')
  }
  return undefined
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{')
}
