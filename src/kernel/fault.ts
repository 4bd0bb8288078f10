/** What is wrong with a value: words that follow the name of its field, or begin with the index of an element, `[2] ...`. */
export class Fault {
  constructor(readonly message: string) {}
}
