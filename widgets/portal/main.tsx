import { start } from '../kit/app.js';
import { App } from './app.js';
import { takeCode } from './enter.js';
import type { PortalFacts } from './session.js';

const code = takeCode();
start<PortalFacts>(({ facts }) => <App facts={facts} code={code} />);
