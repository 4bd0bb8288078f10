// Writes .env for docker compose: random passwords and a master key, readable by its owner alone. Never overwrites one.
import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const file = fileURLToPath(new URL('../.env', import.meta.url));
if (existsSync(file)) {
  console.log('.env is there already and stays as it is');
} else {
  const secrets = ['POSTGRES_PASSWORD', 'REDIS_PASSWORD', 'MASTER_KEY'];
  const lines = secrets.map((name) => `${name}=${randomBytes(32).toString('hex')}\n`);
  writeFileSync(file, lines.join(''), { mode: 0o600, flag: 'wx' });
  console.log(`.env: ${secrets.join(', ')}`);
}
