import { ConfigError } from '../src/platform/config/settings.js';

/** An error for a part of the sandbox that cannot run here. The message is a sentence for the user. */
export class SandboxError extends ConfigError {}
