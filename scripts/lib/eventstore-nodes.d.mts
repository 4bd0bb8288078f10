export interface Node {
  readonly name: string;
  /** Its logs, and its data. */
  readonly dir: string;
  /** Of its HTTP interface. */
  readonly url: string;
  readonly address: string;
  readonly ports: readonly number[];
  readonly gid: number | undefined;
  readonly args: readonly string[];
}

export type ServerCommand = readonly [file: string, args: readonly string[]];

export declare function serverCommand(given?: string): ServerCommand;
export declare function nodesOf(cluster: {
  readonly size?: number;
  readonly port?: number;
  readonly dir: string;
  readonly inMemory?: boolean;
  readonly firstGid?: number | null;
}): readonly Node[];
export declare function addressOf(nodes: readonly Node[]): string;
export declare function stateOf(node: Pick<Node, 'url'>): Promise<string | null>;
export declare function untilLed(nodes: readonly Node[], timeoutMs?: number): Promise<Node>;

export declare class SupervisedNode {
  readonly node: Node;
  readonly pid: number;
  constructor(node: Node, command: ServerCommand);
  start(): this;
  stop(): void;
}
