/** The fault of a value: words that follow the name of its field, or begin with an element's index as in `[2] ...`. */
export class Fault {
  constructor(readonly message: string) {}
}
