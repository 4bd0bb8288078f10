import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { anvilBinary } from './binaries.js';
import { freePort, isFree, runsIn, startDaemon, stopProcess, until } from './processes.js';
import { SandboxError } from './sandbox-error.js';

/** The mnemonic every dev chain uses; its accounts hold play money only. */
export const DEV_MNEMONIC = 'test test test test test test test test test test test junk';

export interface ChainOptions {
  /** Folder of the chain: its pid file, its log and its state. Created when missing. */
  readonly dir: string;
  readonly chainId: number;
}

export interface RunningChain {
  readonly rpcUrl: string;
  readonly pid: number;
  /** It was running already, left behind by a killed run. */
  readonly adopted: boolean;
  /** Writes the state to disk when there are new blocks; true when it did. */
  save(): Promise<boolean>;
  stop(): Promise<void>;
}

interface ChainFile {
  readonly pid: number;
  readonly port: number;
}

/**
 * Starts the dev chain of `dir` (anvil: a block per transaction), or adopts the one that still runs there.
 * The chain lives in memory; {@link RunningChain.save} keeps its state for the next start.
 */
export async function startChain(options: ChainOptions): Promise<RunningChain> {
  mkdirSync(options.dir, { recursive: true, mode: 0o700 });
  const file = join(options.dir, 'chain.json');
  const last = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as ChainFile) : null;
  if (last !== null && runsIn(last.pid, options.dir)) {
    if (await answers(last.port, options.chainId)) return handle(options.dir, last, true);
    await stopAnvil(last.pid);
  }
  const started = await launch(options, last?.port);
  writeAtomically(file, JSON.stringify(started));
  return handle(options.dir, started, false);
}

async function launch(options: ChainOptions, lastPort: number | undefined): Promise<ChainFile> {
  const state = stateFile(options.dir);
  const log = join(options.dir, 'anvil.log');
  for (let attempt = 1; ; attempt += 1) {
    const preferred = attempt === 1 && lastPort !== undefined && (await isFree(lastPort));
    const port = preferred ? lastPort : await freePort();
    const daemon = startDaemon({
      command: anvilBinary(),
      args: [
        ...['--host', '127.0.0.1', '--port', String(port), '--chain-id', String(options.chainId)],
        ...['--mnemonic', DEV_MNEMONIC, '--order', 'fifo', '--silent'],
        ...(existsSync(state) ? ['--load-state', state] : []),
      ],
      cwd: options.dir,
      logFile: log,
      env: { PATH: process.env['PATH'], HOME: options.dir },
    });
    await until(async () => daemon.exited() !== null || (await answers(port, options.chainId)), 30_000);
    if (daemon.exited() === null && (await answers(port, options.chainId))) return { pid: daemon.pid, port };
    await stopAnvil(daemon.pid);
    if (attempt === 5) {
      throw new SandboxError(`The dev chain did not start (${daemon.exited() ?? 'no answer'}): see ${log}`);
    }
  }
}

function handle(dir: string, { pid, port }: ChainFile, adopted: boolean): RunningChain {
  const rpcUrl = `http://127.0.0.1:${port}`;
  let saved: unknown = null;
  const save = async (): Promise<boolean> => {
    const head = await rpc(rpcUrl, 'eth_blockNumber', []);
    if (head === saved) return false;
    const dump = (await rpc(rpcUrl, 'anvil_dumpState', [])) as string;
    writeAtomically(stateFile(dir), gunzipSync(Buffer.from(dump.slice(2), 'hex')));
    saved = head;
    return true;
  };
  return {
    rpcUrl,
    pid,
    adopted,
    save,
    stop: async () => {
      if (!runsIn(pid, dir)) return;
      await save();
      await stopAnvil(pid);
    },
  };
}

function stopAnvil(pid: number): Promise<void> {
  return stopProcess(pid, [
    ['SIGTERM', 5000],
    ['SIGKILL', 2000],
  ]);
}

function stateFile(dir: string): string {
  return join(dir, 'state.json');
}

async function answers(port: number, chainId: number): Promise<boolean> {
  try {
    return Number(await rpc(`http://127.0.0.1:${port}`, 'eth_chainId', [])) === chainId;
  } catch {
    return false;
  }
}

/** One JSON-RPC call; rejects with the node's message when it refuses. */
export async function rpc(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(10_000),
  });
  const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } };
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
}

function writeAtomically(file: string, content: string | Buffer): void {
  writeFileSync(`${file}.new`, content, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
