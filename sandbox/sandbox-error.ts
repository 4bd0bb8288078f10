import { ConfigError } from '../src/platform/config/settings.js';

/** A part of the sandbox cannot run here. The message is a sentence for the user who started it. */
export class SandboxError extends ConfigError {}
