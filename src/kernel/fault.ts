/**
 * The fault of a value. The message follows the name of its field, or begins with an element's index as in `[2] ...`.
 */
export class Fault {
  constructor(readonly message: string) {}
}
