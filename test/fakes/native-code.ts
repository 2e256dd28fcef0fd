import type { NativeCode } from '../../src/ports/native-code.js'

/** Where no package runs in the process. */
export const NO_NATIVE_CODE: NativeCode = {
  open() {
    throw new Error('there is no native code here')
  },
}
