/** The fault of a value. The message follows the field's name, or begins with an index as in `[2] ...`. */
export class Fault {
  constructor(readonly message: string) {}
}
