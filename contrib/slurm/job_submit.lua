-- SPDX-License-Identifier: GPL-2.0-or-later
-- JobSubmitPlugins=lua: jobs with --constraint=quiet have their nodes for themselves, without --exclusive.

local function wants_quiet(features)
	for word in string.gmatch(features or "", "[^&|,()%[%]*]+") do
		if word == "quiet" then
			return true
		end
	end
	return false
end

function slurm_job_submit(job, partitions, uid)
	if wants_quiet(job.features) and job.shared ~= 0 then
		job.shared = 0
		slurm.log_user("a quiet job has its nodes for itself: --exclusive")
	end
	return slurm.SUCCESS
end

function slurm_job_modify(job, record, partitions, uid)
	return slurm.SUCCESS
end
