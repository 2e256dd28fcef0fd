/**
 * What comes and goes, in an order.
 *
 * I1 Nothing here leads to what has left. A `Map` or a `Set` that lives long is no such place: each of its tables leads to the next, and once one of them is
 *    old, all that was in any of them since then stays until everything is collected, and is moved about with what is young until then.
 * I2 So does what the functions know that an object of a literal answers its fields with (`get`): V8 keeps them beside the shapes of objects. What is
 *    made for a request, a step or a call, and answers a field so, is of a class.
 */
export interface Ordered<Each> {
  older: Each | undefined
  newer: Each | undefined
}

export interface Order<Each> {
  readonly oldest: Each | undefined
  /** As the newest. */
  add(each: Each): void
  /** One that is there. */
  remove(each: Each): void
  /** One that is there becomes the newest. */
  use(each: Each): void
  takeOldest(): Each | undefined
  clear(): void
}

export function createOrder<Each extends Ordered<Each>>(): Order<Each> {
  let newest: Each | undefined
  let oldest: Each | undefined

  function add(each: Each): void {
    each.older = newest
    if (newest === undefined) oldest = each
    else newest.newer = each
    newest = each
  }

  function remove(each: Each): void {
    if (each.newer === undefined) newest = each.older
    else each.newer.older = each.older
    if (each.older === undefined) oldest = each.newer
    else each.older.newer = each.newer
    each.newer = undefined
    each.older = undefined
  }

  return {
    get oldest() {
      return oldest
    },
    add,
    remove,
    use(each) {
      if (each === newest) return
      remove(each)
      add(each)
    },
    takeOldest() {
      const gone = oldest
      if (gone !== undefined) remove(gone)
      return gone
    },
    clear() {
      newest = undefined
      oldest = undefined
    },
  }
}
