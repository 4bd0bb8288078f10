import { setFlagsFromString } from 'node:v8';

/**
 * Of a program that reads a whole log: V8 collects once what lives has grown by so many percent. Left to itself it lets
 * garbage become several times that, for speed. No bound on the heap: a larger log takes more, and does not end the program.
 */
export function collectEarly(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}
