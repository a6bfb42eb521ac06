// The script of every worker. The first call decides its role: the page calls a leader, a leader calls its helpers.

import { helperMethods } from "./helpers.js";
import { leaderMethods } from "./leader.js";
import { serve } from "./rpc.js";

serve({ ...leaderMethods(), ...helperMethods() });
