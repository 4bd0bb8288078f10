import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readJson, writeJson } from './files.js';
import type { SandboxAdmin, SandboxExchange, SandboxMerchant } from './announce.js';

/** The contents of `secrets.json`, readable only by its owner. A restarted sandbox has the same secrets. */
export interface SandboxSecrets {
  readonly master_key: string;
  readonly postgres_password: string;
  readonly postgres_port: number | null;
  readonly merchant: SandboxMerchant | null;
  readonly second_merchant: SandboxMerchant | null;
  readonly exchange: SandboxExchange | null;
  /** The keys of the administrators; absent in files of earlier versions. */
  readonly admin?: SandboxAdmin | null;
}

export class SecretsFile {
  private constructor(
    private readonly file: string,
    private secrets: SandboxSecrets,
  ) {}

  /** Reads the secrets of `dataDir`, or creates new ones. */
  static open(dataDir: string): SecretsFile {
    const file = join(dataDir, 'secrets.json');
    const found = readJson<SandboxSecrets>(file);
    if (found !== null) return new SecretsFile(file, found);
    const secrets = new SecretsFile(file, {
      master_key: randomBytes(32).toString('hex'),
      postgres_password: randomBytes(24).toString('hex'),
      postgres_port: null,
      merchant: null,
      second_merchant: null,
      exchange: null,
      admin: null,
    });
    secrets.remember({});
    return secrets;
  }

  get current(): SandboxSecrets {
    return this.secrets;
  }

  remember(changes: Partial<SandboxSecrets>): void {
    this.secrets = { ...this.secrets, ...changes };
    writeJson(this.file, this.secrets);
  }
}
