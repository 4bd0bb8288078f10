import { ALL_SETTINGS } from '../src/composition.js';
import type { Config } from '../src/platform/config/config.js';
import { about } from '../src/platform/config/settings.js';
import { freePort, isFree } from './processes.js';
import { SandboxError } from './sandbox-error.js';

type Ports = Pick<Config, 'port' | 'widgetPort' | 'payPort' | 'metricsPort'>;

/**
 * The ports this sandbox listens on: 0 becomes a free one, a taken one stops the boot with a sentence.
 * Nobody chose the default metrics port, so a second sandbox simply gets another.
 */
export async function preparePorts(config: Config): Promise<Ports> {
  const resolve = async (key: keyof Ports): Promise<number> => {
    const port = config[key];
    if (port === 0) return freePort();
    if (await isFree(port, config.host)) return port;
    const setting = ALL_SETTINGS[key];
    if (key === 'metricsPort' && port === setting.fallback) return freePort();
    throw new SandboxError(
      `Port ${port} is taken by another program: stop that one, or set ${setting.name} to another port (0 for any free one). ${about(setting)}`,
    );
  };
  return {
    port: await resolve('port'),
    widgetPort: await resolve('widgetPort'),
    payPort: await resolve('payPort'),
    metricsPort: await resolve('metricsPort'),
  };
}
